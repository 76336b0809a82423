"""What a real web is: packages, a fill, addresses, processes, and the truth about its pages."""

import contextlib
import hashlib
import inspect
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

PORT = 28080
"""One port for all; applications differ in their address."""
CACHE = Path(__file__).parents[2] / ".cache" / "realweb"
TEXTS = ("texts.py", "notes.py", "histories.py")
"""What applications are filled with."""


@dataclass(frozen=True)
class Site:
    """A host: a loopback address, and the directives of its `server` block in nginx."""

    address: str
    directives: str

    @property
    def url(self) -> str:
        """Without a slash at the end."""
        return f"http://{self.address}:{PORT}"


class App:
    """One application. Constructors store; `prepare` fills, `serve` starts.

    `packages` are installed; of `read_packages` only the files are wanted, so they are unpacked below the cache
    and the system stays as it is. `requirements` are pip packages for the harness's own venv.
    """

    name: ClassVar[str]
    number: ClassVar[int]
    packages: ClassVar[tuple[str, ...]] = ()
    read_packages: ClassVar[tuple[str, ...]] = ()
    requirements: ClassVar[tuple[str, ...]] = ()

    def __init__(self, *, small: bool) -> None:
        self.small = small
        self.folder = (CACHE / "apps" / self.name / ("small" if small else "full")).resolve()
        """State of the application, kept from run to run."""

    @property
    def address(self) -> str:
        return f"127.30.0.{self.number}"

    @property
    def url(self) -> str:
        """Of the first host, without a slash at the end."""
        return f"http://{self.address}:{PORT}"

    def prepare(self) -> None:
        """Fills `self.folder`, which exists and is empty. Runs once, see `fill`."""
        raise NotImplementedError

    def sites(self) -> list[Site]:
        raise NotImplementedError

    @contextlib.contextmanager
    def serve(self) -> Iterator[list[str]]:
        """Start URLs, while the processes behind nginx run."""
        yield [self.url + "/"]

    def truth(self) -> set[str]:
        """The content pages: absolute URLs as the site itself links them."""
        raise NotImplementedError

    def page_of(self, url: str) -> str:
        """The content page that a requested URL is, where the site links one page by several URLs."""
        return url


def fill(app: App) -> bool:
    """Prepares an application unless that was done by the same code. True if there was something to do."""
    code = _code(app)
    stamp = app.folder.with_suffix(".filled")
    if stamp.exists() and stamp.read_text() == code:
        return False
    stamp.unlink(missing_ok=True)
    shutil.rmtree(app.folder, ignore_errors=True)
    app.folder.mkdir(parents=True)
    app.prepare()
    stamp.write_text(code)
    return True


def _code(app: App) -> str:
    """Of what the fill depends on: the application's files and scripts, the texts, the port in its URLs."""
    main = Path(inspect.getfile(type(app)))
    here = Path(__file__).parent
    own = [*main.parent.glob(f"{main.stem}*.py"), *here.glob(f"scripts/{main.stem}*")]
    files = [*sorted(own), *(here / name for name in TEXTS)]
    return hashlib.sha256(str(PORT).encode() + b"".join(map(Path.read_bytes, files))).hexdigest()
