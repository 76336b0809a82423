"""WordPress: posts and pages with comments, in archives by month, category, tag and author, with a feed of each.

Truth: the permalinks of published posts and pages, by `wp_posts`. Archives and the start page only lead to them.
"""

import contextlib
import html
import json
import random
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.realweb.app import App, Site
from tests.realweb.backends import php_fpm, php_location
from tests.realweb.mariadb import MARIADB_PACKAGES, MARIADB_PORT, create, mariadb
from tests.realweb.texts import TEXT_PACKAGES, Article, articles

PROGRAM = Path("/usr/share/wordpress")
SCRIPT = Path(__file__).parents[1] / "scripts/blog.php"
BEGIN = datetime(2022, 1, 3, 9, tzinfo=UTC)
AUTHORS = ("ada", "boris", "chandra", "dolores")
# wp-cron.php is called by WordPress itself, through nginx: that would be in the log of the crawl.
CONFIG = """\
<?php
define('DB_NAME', 'wordpress');
define('DB_USER', 'root');
define('DB_PASSWORD', '');
define('DB_HOST', '{address}:{port}');
define('DB_CHARSET', 'utf8mb4');
define('WP_HOME', '{url}');
define('WP_SITEURL', '{url}');
define('DISABLE_WP_CRON', true);
define('WP_HTTP_BLOCK_EXTERNAL', true);
define('AUTOMATIC_UPDATER_DISABLED', true);
$table_prefix = 'wp_';
if (!defined('ABSPATH')) define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
"""


class Blog(App):
    name = "blog"
    number = 11
    packages = (
        "wordpress", "wordpress-theme-twentytwentyone", "php8.2-fpm", "php8.2-cli", "php8.2-mysql", "php8.2-xml",
        "php8.2-mbstring", *MARIADB_PACKAGES,
    )  # fmt: skip
    read_packages = TEXT_PACKAGES

    @property
    def site(self) -> Path:
        return self.folder / "site"

    def prepare(self) -> None:
        # A copy, because the program looks for its configuration beside itself, links resolved.
        shutil.copytree(PROGRAM, self.site, ignore_dangling_symlinks=True)
        config = CONFIG.format(address=self.address, port=MARIADB_PORT, url=self.url)
        (self.site / "wp-config.php").write_text(config)
        source = self.folder / "posts.json"
        source.write_text(json.dumps(self._content()))
        create(self.folder)
        database = ["mariadb", "-h", self.address, "-P", str(MARIADB_PORT)]
        with mariadb(self.folder, self.address):
            subprocess.run([*database, "-e", "CREATE DATABASE wordpress"], check=True)
            subprocess.run(["php", SCRIPT, self.site, source], check=True)

    def _content(self) -> dict[str, Any]:
        found = articles(80 if self.small else 460)
        return {
            "url": self.url,
            "title": "Notes on databases",
            "truth": str(self.folder / "truth.json"),
            "authors": AUTHORS,
            **content(found, days=9 if self.small else 3),
        }

    def sites(self) -> list[Site]:
        directives = (
            f"root {self.site}; index index.php;\n"
            f"        location / {{ try_files $uri $uri/ /index.php?$args; }}{php_location(self.address)}"
        )
        return [Site(self.address, directives)]

    @contextlib.contextmanager
    def serve(self) -> Iterator[list[str]]:
        with mariadb(self.folder, self.address), php_fpm(self.folder, self.address):
            yield [self.url + "/"]

    def truth(self) -> set[str]:
        return set(json.loads((self.folder / "truth.json").read_text()))


def content(found: Sequence[Article], days: int) -> dict[str, Any]:
    """Chapters' overviews become pages, the rest posts; groups become categories, common links tags."""
    chance = random.Random(1)
    titles = {article.name: article.title for article in found}
    mentions = [link for article in found for link in article.links]
    often = sorted(set(mentions), key=lambda name: (-mentions.count(name), name))[:25]
    groups = {article.name: article.group for article in found}
    lists = {name for name in groups.values() if name}
    posts = []
    for number, article in enumerate(found):
        date = BEGIN + timedelta(days=days * number, minutes=number * 7)
        is_page = article.name in lists
        comments = [
            {
                "author": chance.choice(AUTHORS) + str(place % 5),
                "text": chance.choice(chance.choice(found).paragraphs),
                "date": f"{date + timedelta(hours=5 * place + 1):%F %T}",
            }
            for place in range(0 if is_page else chance.choice((0, 0, 1, 2, 3, 7)))
        ]
        posts.append(
            {
                "type": "page" if is_page else "post",
                # A draft now and then: it must not be found.
                "status": "draft" if number % 50 == 49 and not is_page else "publish",
                "name": article.name,
                "parent": article.group if is_page else "",
                "title": article.title,
                "date": f"{date:%F %T}",
                "author": chance.choice(AUTHORS),
                "content": body(article, titles),
                "categories": [] if is_page else [titles.get(article.group, "Uncategorized")],
                "tags": [titles[link] for link in article.links if link in often][:4],
                "comments": comments,
            }
        )
    categories = {titles[name]: titles.get(groups[name], "") for name in sorted(lists)}
    # Parents first.
    order = sorted(categories, key=lambda name: depth(name, categories))
    return {"posts": posts, "categories": {name: categories[name] for name in order}}


def body(article: Article, titles: dict[str, str]) -> str:
    text = [f"<p>{html.escape(paragraph)}</p>" for paragraph in article.paragraphs]
    text.insert(2, "<!--more-->")
    links = [
        f'<li><a href="/?fill={name}">{html.escape(titles[name])}</a></li>'
        for name in article.links
    ]
    return "\n".join(text) + (f"\n<ul>{''.join(links[:10])}</ul>" if links else "")


def depth(name: str, parents: dict[str, str]) -> int:
    above = parents.get(name, "")
    return 1 + depth(above, parents) if above and above != name else 0
