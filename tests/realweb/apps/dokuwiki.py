"""DokuWiki: a wiki that keeps pages as files, with name spaces, media, old revisions and actions on every page.

Readers may not write, as the installer's policy for a public wiki says. Pages and revisions are written in the
file format that the wiki documents, months ago: a page of the last five days is `noindex`. Truth: `data/pages`.
"""

import contextlib
import gzip
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

from tests.realweb.app import App, Site
from tests.realweb.backends import php_fpm, php_location
from tests.realweb.texts import TEXT_PACKAGES, Article, articles

PROGRAM = Path("/usr/share/dokuwiki")
BEGIN = 1_700_000_000
LOCAL = """\
<?php
$conf['title'] = 'Database handbook';
$conf['license'] = 'cc-by-sa';
$conf['useacl'] = 1;
$conf['superuser'] = '@admin';
$conf['disableactions'] = 'register';
$conf['savedir'] = '{data}';
"""


class DokuWiki(App):
    name = "dokuwiki"
    number = 3
    packages = ("dokuwiki", "php8.2-fpm", "php8.2-xml", "php8.2-mbstring", "php8.2-gd")
    read_packages = TEXT_PACKAGES
    hidden: ClassVar[str] = "location ~ ^/(bin|inc|vendor|conf|data)/|^/install.php { deny all; }"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def prepare(self) -> None:
        self._configure()
        found = articles(80 if self.small else 600)
        log: list[str] = []
        for number, article in enumerate(found):
            log += self._write(identifier(article), drafts(article, found, number), number)
        for number, (name, text) in enumerate(contents(found).items(), len(found)):
            log += self._write(name, [text], number)
        (self.data / "meta/_dokuwiki.changes").write_text("".join(sorted(log)))
        icons = sorted((PROGRAM / "lib/images/fileicons/32x32").glob("*.png"))
        for icon in icons:
            shutil.copy(icon, self.data / "media" / icon.name)
        command: list[str | Path] = ["php", *self._prepended(), PROGRAM / "bin/indexer.php", "-q"]
        subprocess.run(command, check=True, capture_output=True)

    def _configure(self) -> None:
        config = self.folder / "conf"
        shutil.copytree("/etc/dokuwiki", config, ignore_dangling_symlinks=True)
        (config / "local.php").write_text(LOCAL.format(data=self.data))
        (config / "acl.auth.php").write_text("# <?php exit()?>\n*\t@ALL\t1\n*\t@user\t8\n")
        (config / "users.auth.php").write_text("# <?php exit()?>\n")
        define = [f"define('{name}', '{config}/');" for name in ("DOKU_CONF", "DOKU_MAIN_CONF")]
        (self.folder / "prepend.php").write_text(f"<?php {' '.join(define)}\n")
        for name in [
            "attic",
            "cache",
            "index",
            "locks",
            "log",
            "media",
            "media_attic",
            "media_meta",
            "meta",
            "pages",
            "tmp",
        ]:
            (self.data / name).mkdir(parents=True)

    def _prepended(self) -> list[str]:
        return ["-d", f"auto_prepend_file={self.folder / 'prepend.php'}"]

    def _write(self, name: str, texts: list[str], number: int) -> list[str]:
        """A page with its revisions; gives the lines of its change log."""
        place = name.replace(":", "/")
        page = self.data / f"pages/{place}.txt"
        changes = self.data / f"meta/{place}.changes"
        for path in (page, changes, self.data / f"attic/{place}"):
            path.parent.mkdir(parents=True, exist_ok=True)
        lines = []
        moment = BEGIN
        for draft, text in enumerate(texts):
            moment = BEGIN + draft * 500_000 + number * 137
            with gzip.open(self.data / f"attic/{place}.{moment}.txt.gz", "wt") as old:
                old.write(text)
            kind, reason = ("E", "more of it") if draft else ("C", "created")
            lines.append(f"{moment}\t127.0.0.1\t{kind}\t{name}\t\t{reason}\t\t{len(text)}\n")
        page.write_text(texts[-1])
        os.utime(page, (moment, moment))
        changes.write_text("".join(lines))
        return lines

    def sites(self) -> list[Site]:
        directives = f"root {PROGRAM}; index index.php; {self.hidden}{php_location(self.address)}"
        return [Site(self.address, directives)]

    @contextlib.contextmanager
    def serve(self) -> Iterator[list[str]]:
        settings = {"auto_prepend_file": str(self.folder / "prepend.php")}
        with php_fpm(self.folder, self.address, settings=settings):
            yield [self.url + "/"]

    def truth(self) -> set[str]:
        pages = self.data / "pages"
        names = [
            str(path.relative_to(pages))[:-4].replace("/", ":") for path in pages.rglob("*.txt")
        ]
        return {f"{self.url}/doku.php?id={quote(name, safe=':')}" for name in names}

    def page_of(self, url: str) -> str:
        """The script without a name shows the start page."""
        return url + "?id=start" if url.endswith("/doku.php") else url


def identifier(article: Article) -> str:
    """The page's name in its name space."""
    name, space = (
        re.sub("[^a-z0-9_.-]", "_", text.lower()) for text in (article.name, article.group)
    )
    return f"{space}:{name}" if space else name


def drafts(article: Article, found: tuple[Article, ...], number: int) -> list[str]:
    """The texts of a page from its first revision to its last; every third page has older ones."""
    by_name = {other.name: other for other in found}
    icons = ("c", "cpp", "csv", "html", "php", "pl", "py", "sh", "sql", "txt")
    links = "".join(
        f"  * [[:{identifier(by_name[link])}|{by_name[link].title}]]\n" for link in article.links
    )
    picture = f"{{{{:{icons[number % len(icons)]}.png|}}}} " if number % 4 == 0 else ""
    texts = []
    for revision in range(1 + (number % 4 if number % 3 == 0 else 0), 0, -1):
        kept = article.paragraphs[: max(1, len(article.paragraphs) // revision)]
        body = "\n\n".join(f"<nowiki>{text}</nowiki>" for text in kept)
        texts.append(
            f"====== {article.title} ======\n\n{picture}{body}\n\n===== See also =====\n\n{links}"
        )
    return texts


def contents(found: tuple[Article, ...]) -> dict[str, str]:
    """The start page, and one for each name space."""
    pages: dict[str, list[str]] = {"start": []}
    for article in found:
        name = identifier(article)
        page = f"{name.rpartition(':')[0]}:start".lstrip(":")
        if page not in pages:
            pages["start"].append(f"  * [[:{page}]]")
        pages.setdefault(page, []).append(f"  * [[:{name}|{article.title}]]")
    return {
        name: f"====== {name.partition(':')[0]} ======\n\n" + "\n".join(lines) + "\n"
        for name, lines in pages.items()
    }
