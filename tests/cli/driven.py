"""Many command lines in one process: one for each would take minutes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Final, NamedTuple

_DRIVER: Final = """
import json, sys
from gossamer.cli.main import main
for words in json.load(sys.stdin):
    sys.argv[1:] = words
    try:
        code = main()
    except SystemExit as ended:
        code = ended.code
    for stream in (sys.stdout, sys.stderr):
        print(f"=== {code}", file=stream, flush=True)
"""


class Ended(NamedTuple):
    words: list[str]
    code: int
    out: bytes
    err: bytes


def drive(lines: list[list[str]], place: Path, before: list[str] | None = None) -> list[Ended]:
    """How each line ended. `before`: words that start the process in another way."""
    told = subprocess.run(
        [*(before or []), sys.executable, "-c", _DRIVER], input=json.dumps(lines).encode(),
        capture_output=True, check=False, cwd=place, timeout=240,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr.decode()
    outs, errs = _parts(told.stdout), _parts(told.stderr)
    return [
        Ended(words, code, out, err)
        for words, (out, code), (err, _) in zip(lines, outs, errs, strict=True)
    ]


def _parts(text: bytes) -> list[tuple[bytes, int]]:
    parts, begun = [], b""
    for line in text.splitlines(keepends=True):
        if line.startswith(b"=== "):
            parts.append((begun, int(line[4:])))
            begun = b""
        else:
            begun += line
    return parts
