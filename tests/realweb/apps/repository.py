"""cgit: three repositories with hundreds of commits, every one of which can be seen as log, diff, patch and tree.

By default cgit tells robots not to follow its links; here it does not, or there would be nothing to crawl.
Truth: the index, each repository's summary, each commit of any branch, each folder and file as of today (`tree/<path>`).
Not content: other views of the same (`plain`, `blame`, `diff`, `patch`, the log of one file), old trees (`?id=`),
other branches' trees (`?h=`), the log and its pages, which only lead to commits.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

from tests.realweb.app import App, Site
from tests.realweb.cgi import CGI_PACKAGES, cgi, cgi_location
from tests.realweb.histories import SOURCE_PACKAGES, TREES, Tree, create, git

PROGRAM = "/usr/lib/cgit/cgit.cgi"
CONFIG = """\
virtual-root=/
css=/cgit.css
logo=/cgit.png
robots=index, follow
enable-blame=1
"""


class Repository(App):
    name = "repository"
    number = 12
    packages = ("cgit", "git", *CGI_PACKAGES)
    read_packages = SOURCE_PACKAGES

    @property
    def trees(self) -> tuple[Tree, ...]:
        return TREES[:1] if self.small else TREES

    def place(self, tree: Tree) -> Path:
        return self.folder / f"{tree.name}.git"

    def prepare(self) -> None:
        lines = [CONFIG]
        for tree in self.trees:
            sizes = (60, 40) if self.small else (300, 200)
            create(tree, self.place(tree), commits=sizes[0], files=sizes[1])
            lines += [f"\nrepo.url={tree.name}\nrepo.path={self.place(tree)}\n"]
            lines += [f"repo.desc={tree.description}\nrepo.owner=The maintainers\n"]
        (self.folder / "cgitrc").write_text("".join(lines))

    def sites(self) -> list[Site]:
        files = "location ~ ^/(cgit.css|cgit.png|favicon.ico)$ { root /usr/share/cgit; }"
        return [Site(self.address, files + cgi_location("/", PROGRAM, self.address))]

    @contextlib.contextmanager
    def serve(self) -> Iterator[list[str]]:
        with cgi(self.folder, self.address, {"CGIT_CONFIG": str(self.folder / "cgitrc")}):
            yield [self.url + "/"]

    def truth(self) -> set[str]:
        found = {self.url + "/"}
        for tree in self.trees:
            base = f"{self.url}/{tree.name}/"
            found.add(base)
            commits = git(self.place(tree), "rev-list", "--all")
            found |= {f"{base}commit/?id={commit}" for commit in commits}
            paths = git(self.place(tree), "ls-tree", "-r", "-t", "--name-only", "HEAD")
            found |= {f"{base}tree/{quote(path)}" for path in ["", *paths]}
        return found

    def page_of(self, url: str) -> str:
        """A commit stays the same page when a branch is named too."""
        parts = urlsplit(url)
        query = parse_qs(parts.query)
        if parts.path.endswith("/commit/") and set(query) == {"h", "id"}:
            return f"{url.partition('?')[0]}?id={query['id'][0]}"
        return url
