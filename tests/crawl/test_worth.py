"""What is worth a visit is judged by what visits brought, with default settings: content whole and first, junk little."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.crawl.crawling import COMMAND
from tests.crawl.pages import Answer, Done, crawl, serving
from tests.crawl.prose import prose

FOLDERS = ("usr", "share", "doc", "package", "html", "reference")


def crawled(pages: dict[str, str | Answer], out: Path) -> tuple[Done, list[str]]:
    """The crawl, and the pages asked for in order."""
    with serving(pages) as served:
        # As fast as it answers: the gap by response time is no part of this.
        fast = ("--set", "politeness.response_factor=0")
        done = crawl(f"http://127.0.0.1:{served.port}/", *fast, out=out)
    return done, [path for path in served.asked if path != "/robots.txt"]


def audited(out: Path) -> dict[str, object]:
    command = [*COMMAND[:-1], "audit", str(out), "--json"]
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    found: dict[str, object] = json.loads(done.stdout)
    return found


def test_a_manual_in_deep_folders_is_crawled_whole(tmp_path: Path) -> None:
    """Paths of seven folders and more are what documentation looks like, 1,400 of them on one host."""
    pages: dict[str, str | Answer] = {
        "/": '<a href="/usr/share/doc/package/html/reference/">in</a>'
    }
    root = "/" + "/".join(FOLDERS) + "/"
    chapters = [f"{root}part{part}/chapter{number}/" for part in range(10) for number in range(20)]
    pages[root] = "".join(f'<a href="{chapter}">{chapter}</a>' for chapter in chapters)
    for chapter in chapters:
        sections = [f"{chapter}section-{number}.html" for number in range(6)]
        pages[chapter] = prose(chapter) + "".join(f'<a href="{one}">s</a>' for one in sections)
        for section in sections:
            pages[section] = f'{prose(section)}<a href="./">up</a><a href="{root}">contents</a>'
    done, asked = crawled(pages, tmp_path / "out")
    assert set(asked) == set(pages)
    assert done.summary["pages"] == len(pages)
    assert done.summary["urls_set_aside"] == 0


def edit_forms(page: str) -> Answer:
    return Answer(
        f'<meta name="robots" content="noindex"><h1>Edit</h1><form><textarea>{page}</textarea></form>'
    )


def log_in(page: str) -> Answer:
    return Answer(f'<h1>Log in</h1><form><input name="next" value="{page}"></form>')


def moved_to_the_page(page: str) -> Answer:
    return Answer(status=302, headers={"Location": page})


def without_anything_new(page: str) -> Answer:
    return Answer(f"<h1>Printed</h1>{prose(page)}")


JUNK: dict[str, Callable[[str], Answer]] = {
    "{}?do=edit": edit_forms,
    "/login?next={}": log_in,
    "{}?p=1": moved_to_the_page,
    "{}?do=print": without_anything_new,
}


def test_content_comes_first_and_junk_is_little(tmp_path: Path) -> None:
    titles = [f"/wiki/{word}" for word in prose("titles", 200).split()]
    titles = sorted(set(titles))
    pages: dict[str, str | Answer] = {
        "/": "".join(f'<a href="{title}">{title}</a>' for title in titles)
    }
    for title in titles:
        links = []
        for shape, answer in JUNK.items():
            place = shape.format(title)
            pages[place] = answer(title)
            links.append(f'<a href="{place}">more</a>')
        pages[title] = prose(title) + "".join(links)
    done, asked = crawled(pages, tmp_path / "out")
    content = {"/", *titles}
    assert content <= set(asked)
    assert content <= set(asked[: int(1.5 * len(content))])
    assert len(asked) <= 2 * len(content)
    # All that was found and not asked for is told: in the summary, the log and the audit.
    left = set(pages) - set(asked)
    assert done.summary["urls_set_aside"] == len(left) > 100
    assert f"gossamer patterns {tmp_path / 'out'}" in done.said
    aside = [line for line in done.log if line["outcome"] == "set_aside"]
    assert len(aside) == len(left)
    assert all(line["reason"].startswith("URLs like ") for line in aside)
    assert audited(tmp_path / "out")["not_fetched"] == {"set_aside": len(left)}


def archive(threads: int, messages: int) -> tuple[dict[str, str | Answer], set[str]]:
    """A mail archive: its lists name threads, each message is also raw and in two views of its thread. And its messages."""
    pages: dict[str, str | Answer] = {}
    content = set()
    starts = []
    for thread in range(threads):
        names = [f"/{thread * 100 + number:06}x/" for number in range(messages)]
        texts = {name: prose(name, 60) for name in names}
        whole = "".join(
            f'{text}<a href="{name}">permalink</a><a href="{name}raw">raw</a>'
            f'<a href="{name}T/">flat</a><a href="{name}t/">nested</a>'
            for name, text in texts.items()
        )
        others = "".join(f'<a href="{name}">{name}</a>' for name in names)
        for name, text in texts.items():
            views = f'<a href="raw">raw</a><a href="T/">flat</a><a href="t/">nested</a>{others}'
            pages[name] = text + views
            pages[f"{name}raw"] = Answer(f"Subject: {name}\n\n{text}", kind="text/plain")
            pages[f"{name}T/"] = pages[f"{name}t/"] = f"<h1>{thread}</h1>{whole}"
        content |= set(names)
        starts.append(f'<a href="{names[0]}T/">{prose(names[0], 4)}</a>')
    for at in range(0, threads, 20):
        after = f'<a href="/?before={at + 20}">next</a>' if at + 20 < threads else ""
        place = f"/?before={at}" if at else "/"
        pages[place] = "".join(starts[at : at + 20]) + after
        content.add(place)
    return pages, content


def test_a_message_is_found_by_its_thread_and_its_views_are_little(tmp_path: Path) -> None:
    """That most threads were seen by their messages is no reason to leave out the one that leads to others."""
    pages, content = archive(threads=60, messages=5)
    done, asked = crawled(pages, tmp_path / "out")
    assert content - set(asked) == set()
    assert content - set(asked[: int(1.5 * len(content))]) == set()
    assert len(asked) <= 2 * len(content)
    assert done.summary["urls_set_aside"] == len(set(pages) - set(asked))


def test_empty_answers_bring_nothing(tmp_path: Path) -> None:
    titles = [f"/commit/{number}" for number in range(100)]
    pages: dict[str, str | Answer] = {
        "/": "".join(f'<a href="{title}">{title}</a>' for title in titles)
    }
    for title in titles:
        patches = [f"/patch{title}/{number}" for number in range(4)]
        pages[title] = prose(title) + "".join(f'<a href="{one}">{one}</a>' for one in patches)
        pages |= dict.fromkeys(patches, Answer(kind="text/plain"))
    _done, asked = crawled(pages, tmp_path / "out")
    assert {"/", *titles} <= set(asked[: int(1.5 * len(titles))])
    assert len(asked) <= 2 * len(titles)
