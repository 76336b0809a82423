"""An engine on this machine: its process, its end, why it does not start."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from gossamer.engine import Server
from gossamer.errors import EngineError


def test_a_server_that_cannot_start_says_why(tmp_path: Path, server: Server) -> None:
    second = Server(tmp_path / "second", port=server.port)
    second._answers = lambda: False  # type: ignore[method-assign]
    with pytest.raises(EngineError, match="does not start"):
        second.start()
    (tmp_path / "file").write_text("")
    with pytest.raises(EngineError, match="cannot write"):
        Server(tmp_path / "file" / "engine").start()


@pytest.mark.parametrize(("parent", "code"), [(1, 0), (4711, 1)])
def test_a_child_ends_whose_parent_is_gone(parent: int, code: int) -> None:
    """As the first process of a container we are number 1, and so is whoever takes orphans in."""
    script = f"""
        import os
        from gossamer.engine import server
        os.getppid = lambda: 1
        server.end_with({parent})
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=False)
    assert done.returncode == code


def test_it_starts_below_process_number_one(tmp_path: Path) -> None:
    """In a name space of its own, as in a container."""
    alone = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child"]
    probe = subprocess.run([*alone, "true"], check=False, capture_output=True)
    if probe.returncode != 0:
        pytest.skip(f"no name spaces here: {probe.stderr.decode().strip()}")
    script = f"""
        import os
        from pathlib import Path
        from gossamer.engine import Server
        assert os.getpid() == 1
        server = Server(Path({str(tmp_path)!r}) / "engine")
        server.start()
        assert server.running
        server.stop()
    """
    command = [*alone, sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, check=False, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
