"""Spirit, a forum in Django: topics with comments on several pages, and a link to log in beside every one of them.

Truth: topics and categories, with all their pages (`?page=`). Profiles ask for a login, so they are not content.
"""

import contextlib
import json
import random
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.realweb.app import App, Site
from tests.realweb.install import VENV
from tests.realweb.texts import TEXT_PACKAGES, Article, articles
from tests.realweb.wsgi import SCRIPTS, python, wsgi, wsgi_locations

# Not `forum`: a script of that name would be found first.
SETTINGS = "board.settings.realweb"
BEGIN = datetime(2023, 2, 1, 10, tzinfo=UTC)
USERS = ("ada", "boris", "chandra", "dolores", "emeka", "frida", "goro", "hana", "ivo", "jun")
# SQLite instead of PostgreSQL; the search index would be written at every comment.
LOCAL = """\
from .prod import *
SECRET_KEY = "not a secret"
ALLOWED_HOSTS = ["*"]
ST_SITE_URL = "{url}/"
DATABASES = {{
    "default": {{
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": "{folder}/forum.sqlite3",
        "OPTIONS": {{"timeout": 60}},
    }}
}}
HAYSTACK_SIGNAL_PROCESSOR = "haystack.signals.BaseSignalProcessor"
"""


class Forum(App):
    name = "forum"
    number = 15
    requirements = ("django-spirit", "gunicorn")
    read_packages = TEXT_PACKAGES

    @property
    def project(self) -> Path:
        return self.folder / "project"

    def prepare(self) -> None:
        self.project.mkdir()
        template = next(VENV.glob("lib/*/site-packages/spirit/extra/project_template"))
        start: list[str | Path] = [
            VENV / "bin/django-admin",
            "startproject",
            "--template",
            template,
        ]
        subprocess.run([*start, "board", self.project], check=True)
        local = LOCAL.format(url=self.url, folder=self.folder)
        (self.project / "board/settings/realweb.py").write_text(local)
        for command in (["migrate"], ["createcachetable"], ["collectstatic", "--noinput"]):
            python(self.project, SETTINGS, "manage.py", *command, "-v0")
        source, truth = self.folder / "forum.json", self.folder / "truth.json"
        source.write_text(json.dumps(content(articles(50 if self.small else 300))))
        python(self.project, SETTINGS, SCRIPTS / "forum.py", source, truth)

    def sites(self) -> list[Site]:
        return [Site(self.address, wsgi_locations(self.address, self.project / "static"))]

    @contextlib.contextmanager
    def serve(self) -> Iterator[list[str]]:
        with wsgi(self.project, SETTINGS, "board.wsgi", self.address):
            yield [self.url + "/"]

    def truth(self) -> set[str]:
        return {self.url + path for path in json.loads((self.folder / "truth.json").read_text())}

    def page_of(self, url: str) -> str:
        """The first page has two names."""
        return url.removesuffix("?page=1")


def content(found: tuple[Article, ...]) -> dict[str, Any]:
    """Articles become topics, their groups categories, paragraphs of them and of others the comments."""
    chance = random.Random(2)
    titles = {article.name: article.title for article in found}
    topics = []
    for number, article in enumerate(found):
        texts = list(article.paragraphs[:3])
        answers = chance.choice((0, 1, 2, 4, 8, 15, 30, 55))
        texts += [chance.choice(chance.choice(found).paragraphs) for _ in range(answers)]
        date = BEGIN + timedelta(hours=19 * number)
        comments = [
            {
                "user": chance.choice(USERS),
                "text": text,
                "date": (date + timedelta(minutes=47 * place)).isoformat(),
            }
            for place, text in enumerate(texts)
        ]
        category = titles.get(article.group, "General")[:75]
        topics.append({"title": article.title[:200], "category": category, "comments": comments})
    names = dict.fromkeys(topic["category"] for topic in topics)
    # Every second category is below the one before it, as deep as Spirit goes.
    parents = dict(zip(list(names)[1::2], list(names)[::2], strict=False))
    return {
        "users": USERS,
        "categories": {name: parents.get(name, "") for name in names},
        "topics": topics,
    }
