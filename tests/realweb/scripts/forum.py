"""Run by the venv's Python: `forum.py FORUM.json TRUTH.json`. Writes categories, users, topics and comments."""

import json
import sys
from datetime import datetime
from pathlib import Path

import django  # type: ignore[import-not-found]

django.setup()

from django.contrib.auth import get_user_model  # type: ignore[import-not-found]  # noqa: E402
from django.db import transaction  # type: ignore[import-not-found]  # noqa: E402
from djconfig import config, reload_maybe  # type: ignore[import-not-found]  # noqa: E402
from spirit.category.models import Category  # type: ignore[import-not-found]  # noqa: E402
from spirit.comment.models import Comment  # type: ignore[import-not-found]  # noqa: E402
from spirit.core.utils.markdown import Markdown  # type: ignore[import-not-found]  # noqa: E402
from spirit.topic.models import Topic  # type: ignore[import-not-found]  # noqa: E402


def write(forum: dict) -> None:
    users = {
        name: get_user_model().objects.create_user(name, f"{name}@example.org")
        for name in forum["users"]
    }
    categories: dict[str, Category] = {}
    for title, parent in forum["categories"].items():
        above = categories.get(parent)
        categories[title] = Category.objects.create(title=title, parent=above)
    for topic in forum["topics"]:
        made = Topic.objects.create(
            user=users[topic["comments"][0]["user"]],
            category=categories[topic["category"]],
            title=topic["title"],
            date=moment(topic["comments"][0]),
            last_active=moment(topic["comments"][-1]),
            comment_count=len(topic["comments"]),
        )
        Comment.objects.bulk_create(
            Comment(
                topic=made,
                user=users[comment["user"]],
                comment=comment["text"],
                comment_html=Markdown().render(comment["text"]),
                date=moment(comment),
            )
            for comment in topic["comments"]
        )


def truth() -> list[str]:
    """Topics and categories that a visitor may see, with every page that they have."""
    reload_maybe()
    found = []
    for topic in Topic.objects.visible():
        pages = -(-Comment.objects.for_topic(topic=topic).count() // config.comments_per_page)
        found += paged(topic.get_absolute_url(), pages)
    for category in Category.objects.visible():
        topics = Topic.objects.visible().for_category(category=category)
        found += paged(category.get_absolute_url(), -(-topics.count() // config.topics_per_page))
    return found


def paged(url: str, pages: int) -> list[str]:
    return [url, *(f"{url}?page={page}" for page in range(2, pages + 1))]


def moment(comment: dict) -> datetime:
    return datetime.fromisoformat(comment["date"])


with transaction.atomic():
    write(json.loads(Path(sys.argv[1]).read_text()))
Path(sys.argv[2]).write_text(json.dumps(truth()))
