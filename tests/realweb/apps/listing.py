"""A directory listing by Apache with sort links (`?C=M;O=A`), of the files that an editor brings.

Truth: each folder's plain index, and each file that Apache declares as text.
"""

import contextlib
import mimetypes
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from tests.realweb.app import App, Site
from tests.realweb.backends import process
from tests.realweb.install import UNPACKED

PORT = 29001
"""Of Apache, behind the front."""
MODULES = ("mpm_event", "authz_core", "dir", "autoindex", "mime", "alias")
TYPES = Path("/etc/mime.types")
CONFIG = """\
ServerRoot "{folder}"
ServerName {address}
Listen {address}:{port}
PidFile "{folder}/apache.pid"
ErrorLog "{folder}/apache-error.log"
{modules}
TypesConfig {types}
# A server of vim scripts would say so; without a type they would be downloads.
AddType text/plain .vim
DocumentRoot "{root}"
<Directory "{root}">
    Options Indexes FollowSymLinks
    Require all granted
    DirectoryIndex disabled
    IndexOptions FancyIndexing VersionSort HTMLTable NameWidth=* DescriptionWidth=* Charset=UTF-8
</Directory>
"""


class Listing(App):
    name = "listing"
    number = 2
    packages = ("apache2-bin", "media-types")
    read_packages = ("vim-runtime",)

    @property
    def root(self) -> Path:
        whole = UNPACKED / "usr/share/vim/vim90"
        return (whole / "autoload" if self.small else whole).resolve()

    def prepare(self) -> None:
        """The tree is served from where it was unpacked."""

    def sites(self) -> list[Site]:
        # The host as the crawler knows it, so that Apache's redirects lead to the front.
        return [
            Site(
                self.address,
                f"location / {{ proxy_pass http://{self.address}:{PORT}; proxy_set_header Host $host:$server_port; }}",
            )
        ]

    @contextlib.contextmanager
    def serve(self) -> Iterator[list[str]]:
        folder = self.folder
        modules = [
            f"LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so" for name in MODULES
        ]
        config = folder / "apache.conf"
        config.write_text(
            CONFIG.format(
                folder=folder, address=self.address, port=PORT, modules="\n".join(modules),
 types=TYPES, root=self.root,
            )
        )  # fmt: skip
        apache = shutil.which("apache2") or "/usr/sbin/apache2"
        command: list[str | Path] = [apache, "-f", config, "-D", "FOREGROUND"]
        with process(command, ready=(self.address, PORT), log=folder / "apache.log"):
            yield [self.url + "/"]

    def truth(self) -> set[str]:
        types = mimetypes.MimeTypes(filenames=())
        types.read(str(TYPES))
        types.add_type("text/plain", ".vim")
        found = {self.url + "/"}
        for path in self.root.rglob("*"):
            url = f"{self.url}/{quote(str(path.relative_to(self.root)))}"
            if path.is_dir():
                found.add(url + "/")
            elif _is_text(path, types):
                found.add(url)
        return found


def _is_text(path: Path, types: mimetypes.MimeTypes) -> bool:
    kind, encoding = types.guess_type(path.name)
    return encoding is None and (kind or "").startswith("text/") and kind != "text/css"
