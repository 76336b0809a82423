"""MediaWiki on SQLite: articles with revisions, talk pages, categories and redirects, under `/wiki/Title`.

Filled by its own maintenance scripts (`install`, `importDump`). Truth: the page table without redirects, in the
name spaces of articles, their talk, the project and categories. Everything else (`index.php?title=`,
`Special:`) is a view of those.
"""

import contextlib
import os
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar
from urllib.parse import quote

from tests.realweb.app import App, Site
from tests.realweb.apps.mediawiki_dump import PROJECT, dump, main_page
from tests.realweb.backends import php_fpm, php_location
from tests.realweb.texts import TEXT_PACKAGES, articles

PROGRAM = Path("/usr/share/mediawiki")
SETTINGS = """
$wgArticlePath = "/wiki/$1";
$wgCacheDirectory = "{folder}/cache";
$wgJobRunRate = 0;
$wgMainCacheType = CACHE_ACCEL;
"""


class MediaWiki(App):
    name = "mediawiki"
    number = 4
    packages = ("mediawiki", "php8.2-fpm", "php8.2-sqlite3", "php8.2-xml", "php8.2-mbstring", "php8.2-intl", "php8.2-apcu")  # fmt: skip
    read_packages = TEXT_PACKAGES
    spaces: ClassVar[dict[int, str]] = {
        0: "",
        1: "Talk:",
        4: f"{PROJECT}:".replace(" ", "_"),
        14: "Category:",
    }

    @property
    def settings(self) -> Path:
        return self.folder / "LocalSettings.php"

    def prepare(self) -> None:
        data = self.folder / "data"
        for folder in (data, self.folder / "cache"):
            folder.mkdir()
        self._maintain(
            "install", "--dbtype", "sqlite", "--dbpath", data, "--dbname", "wiki",
            "--confpath", self.folder, "--server", self.url, "--scriptpath", "",
            "--pass", "never-used-to-log-in", "--skins", "Vector", PROJECT, "Keeper",
        )  # fmt: skip
        with self.settings.open("a") as settings:
            settings.write(SETTINGS.format(folder=self.folder))
        pages = self.folder / "pages.xml"
        found = articles(50 if self.small else 300)
        pages.write_text(dump(found))
        self._maintain("importDump", "--no-updates", pages)
        self._maintain("edit", "Main Page", text=main_page(found))
        self._maintain("rebuildrecentchanges")
        self._maintain("refreshLinks")
        self._maintain("initSiteStats", "--update")
        self._maintain("runJobs")

    def _maintain(self, script: str, *options: str | Path, text: str = "") -> None:
        command: list[str | Path] = ["php", PROGRAM / f"maintenance/{script}.php", *options]
        environment = dict(os.environ)
        if self.settings.exists():
            environment["MW_CONFIG_FILE"] = str(self.settings)
        subprocess.run(
            command, env=environment, input=text.encode(), check=True, capture_output=True
        )

    def sites(self) -> list[Site]:
        directives = (
            f"root {PROGRAM}; index index.php;\n"
            "        location /wiki/ { rewrite ^ /index.php last; }\n"
            "        location ~ ^/(includes|maintenance|languages|vendor|mw-config)/ { deny all; }"
        )
        return [Site(self.address, directives + php_location(self.address))]

    @contextlib.contextmanager
    def serve(self) -> Iterator[list[str]]:
        environment = {"MW_CONFIG_FILE": str(self.settings)}
        with php_fpm(self.folder, self.address, environment=environment):
            yield [self.url + "/"]

    def truth(self) -> set[str]:
        with contextlib.closing(sqlite3.connect(self.folder / "data/wiki.sqlite")) as database:
            rows = database.execute(
                "SELECT page_namespace, page_title FROM page WHERE page_is_redirect = 0"
            ).fetchall()
        return {
            f"{self.url}/wiki/{quote(self.spaces[space] + _text(title))}"
            for space, title in rows
            if space in self.spaces
        }


def _text(title: str | bytes) -> str:
    return title.decode() if isinstance(title, bytes) else title
