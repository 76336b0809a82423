"""gitweb: the repositories of `histories.py` by another program, whose URLs have `;` between parameters.

Truth: the index, each repository's summary, each commit of any branch, each file as of today. The site links a
file with the object that it is and the commit that it was found in; the same object at the same path is one page.
gitweb always tells robots not to follow its links; nginx takes that out, or there would be nothing to crawl.
Not content: folders' lists, logs, diffs, raw files, patches, histories of files, old versions.
"""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from tests.realweb.app import App, Site
from tests.realweb.cgi import CGI_PACKAGES, cgi, cgi_location
from tests.realweb.histories import SOURCE_PACKAGES, TREES, Tree, create, git

PROGRAM = "/usr/lib/cgi-bin/gitweb.cgi"
CONFIG = """\
our $projectroot = "{folder}";
our $site_name = "Sources";
our @git_base_url_list = ();
"""


class Gitweb(App):
    name = "gitweb"
    number = 13
    packages = ("gitweb", "git", *CGI_PACKAGES)
    read_packages = SOURCE_PACKAGES

    @property
    def trees(self) -> tuple[Tree, ...]:
        return TREES[:1] if self.small else TREES[:2]

    def place(self, tree: Tree) -> Path:
        return self.folder / f"{tree.name}.git"

    def prepare(self) -> None:
        for tree in self.trees:
            sizes = (60, 40) if self.small else (200, 150)
            create(tree, self.place(tree), commits=sizes[0], files=sizes[1])
        (self.folder / "gitweb.conf").write_text(CONFIG.format(folder=self.folder))

    def sites(self) -> list[Site]:
        robots = """sub_filter ' content="index, nofollow"' ' content="index, follow"';
        sub_filter_types application/xhtml+xml;
        """
        static = "location / { return 404; } location /static/ { alias /usr/share/gitweb/static/; }"
        program = cgi_location("= /", PROGRAM, self.address, script="/", info="")
        return [Site(self.address, robots + static + program)]

    @contextlib.contextmanager
    def serve(self) -> Iterator[list[str]]:
        with cgi(self.folder, self.address, {"GITWEB_CONFIG": str(self.folder / "gitweb.conf")}):
            yield [self.url + "/"]

    def truth(self) -> set[str]:
        found = {self.url + "/"}
        for tree in self.trees:
            base = f"{self.url}/?p={tree.name}.git"
            found.add(f"{base};a=summary")
            commits = git(self.place(tree), "rev-list", "--all")
            found |= {f"{base};a=commit;h={commit}" for commit in commits}
            for line in git(self.place(tree), "ls-tree", "-r", "HEAD"):
                kind, path = line.split("\t")
                found.add(f"{base};a=blob;f={quote(path)};h={kind.split()[2]}")
        return found

    def page_of(self, url: str) -> str:
        """A file's page without the commit through which it was found."""
        if ";a=blob;" in url:
            return re.sub(";hb=[^;]*", "", url)
        return url
