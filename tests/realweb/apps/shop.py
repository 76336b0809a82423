"""django-oscar: a shop whose lists can be narrowed by type and rating, in any order (`?selected_facets=`).

Truth: products on sale, categories and the whole catalogue with all their pages (`?page=`). Not content: narrowed
lists, which show the same products, and the forms for reviews, baskets and accounts.
"""

import contextlib
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.realweb.app import App, Site
from tests.realweb.apps.shop_project import SETTINGS, URLS, WSGI
from tests.realweb.texts import TEXT_PACKAGES, Article, articles
from tests.realweb.wsgi import SCRIPTS, python, wsgi, wsgi_locations

MODULE = "store.settings"
TYPES = ("Book", "Chart", "Course", "Film", "Magazine", "Poster")
READERS = ("Ada", "Boris", "Chandra", "Dolores", "Emeka")


class Shop(App):
    name = "shop"
    number = 16
    requirements = ("django-oscar", "sorl-thumbnail", "whoosh", "gunicorn")
    read_packages = TEXT_PACKAGES

    @property
    def project(self) -> Path:
        return self.folder / "project"

    def prepare(self) -> None:
        store = self.project / "store"
        store.mkdir(parents=True)
        settings = SETTINGS.format(folder=self.folder)
        files = {"__init__": "", "settings": settings, "urls": URLS, "wsgi": WSGI}
        for name, text in files.items():
            (store / f"{name}.py").write_text(text)
        for command in (["migrate"], ["collectstatic", "--noinput"]):
            self._manage(*command, "-v0")
        source, truth = self.folder / "shop.json", self.folder / "truth.json"
        source.write_text(json.dumps(content(articles(60 if self.small else 400))))
        python(self.project, MODULE, SCRIPTS / "shop.py", source, truth)
        self._manage("rebuild_index", "--noinput", "-v0")

    def _manage(self, *arguments: str) -> None:
        python(self.project, MODULE, "-m", "django", *arguments)

    def sites(self) -> list[Site]:
        return [Site(self.address, wsgi_locations(self.address, self.folder / "static"))]

    @contextlib.contextmanager
    def serve(self) -> Iterator[list[str]]:
        with wsgi(self.project, MODULE, "store.wsgi", self.address):
            yield [self.url + "/"]

    def truth(self) -> set[str]:
        return {self.url + path for path in json.loads((self.folder / "truth.json").read_text())}

    def page_of(self, url: str) -> str:
        """The first page has two names."""
        return url.removesuffix("?page=1")


def content(found: tuple[Article, ...]) -> dict[str, Any]:
    """Articles become products, their groups categories in two levels."""
    chance = random.Random(3)
    titles = {article.name: article.title.replace(">", "") for article in found}
    groups = {article.name: article.group for article in found}
    products = []
    for number, article in enumerate(found):
        above = [titles[name] for name in (groups.get(article.group, ""), article.group) if name]
        reviews = [
            {
                "score": chance.choice((1, 2, 3, 4, 4, 5, 5)),
                "title": chance.choice(chance.choice(found).paragraphs)[:60],
                "body": chance.choice(chance.choice(found).paragraphs),
                "name": chance.choice(READERS),
            }
            for _ in range(chance.choice((0, 0, 1, 2)))
        ]
        products.append(
            {
                "title": article.title[:200],
                "description": "\n\n".join(article.paragraphs[:8]),
                "type": TYPES[number % len(TYPES)],
                "category": " > ".join(above) or "Other",
                "price": f"{chance.randrange(5, 90)}.{chance.randrange(100):02}",
                "stock": chance.randrange(30),
                # Some are not on sale: they must not be found.
                "public": number % 40 != 39,
                "reviews": reviews,
            }
        )
    categories = dict.fromkeys(product["category"] for product in products)
    return {"types": TYPES, "categories": list(categories), "products": products}
