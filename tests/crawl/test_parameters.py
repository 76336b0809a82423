"""Parameters that change nothing are learnt from what visits bring, and taken out; those that matter stay."""

import itertools
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.crawl.crawling import COMMAND
from tests.crawl.pages import Answer, crawl, serving

GOSSAMER = [sys.executable, "-m", "gossamer.cli.main"]
PAGES = 41


class Made(Mapping[str, str | Answer]):
    """Pages that are made when they are asked for."""

    def __init__(self, make: Callable[[str, dict[str, str]], str | None]) -> None:
        self.make = make

    def __getitem__(self, place: str) -> str | Answer:
        parts = urlsplit(place)
        values = {name: found[-1] for name, found in parse_qs(parts.query).items()}
        page = self.make(parts.path, values)
        if page is None:
            raise KeyError(place)
        return page

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def words(number: int) -> str:
    return " ".join(
        f"{word} {number * 7 + at}" for at, word in enumerate(["some", "plain", "text"] * 9)
    )


def linked(target: Callable[[int], str]) -> str:
    return "".join(f'<li><a href="{target(number)}">next</a>' for number in range(PAGES))


def number_of(path: str) -> int | None:
    text = path.removeprefix("/page").removesuffix(".html")
    return int(text) if text.isdigit() and int(text) < PAGES else None


def told(*arguments: str | Path) -> str:
    done = subprocess.run(
        [*GOSSAMER, *map(str, arguments)], check=True, capture_output=True, text=True, timeout=100
    )
    return done.stdout


def contents(asked: list[str]) -> set[int | None]:
    return {number_of(urlsplit(place).path) for place in asked} - {None}


def test_numbers_in_a_parameter_with_the_name_of_a_session_are_pages(tmp_path: Path) -> None:
    def make(path: str, values: dict[str, str]) -> str | None:
        if path.startswith("/robots"):
            return None
        links = linked(lambda n: f"/article.php?sid={n}")
        links += linked(lambda n: f"/other.php?sessionid={n}")
        number = int(values.get("sid") or values.get("sessionid") or "0")
        return f"<h1>{path}</h1><p>{words(number + len(path) * 1000)}</p>{links}"

    with serving(Made(make)) as served:
        done = crawl(f"http://127.0.0.1:{served.port}/", out=tmp_path / "out")
    pages = {place for place in served.asked if "=" in place}
    assert len(pages) == 2 * PAGES
    assert done.summary["pages"] == 2 * PAGES + 1
    assert done.summary["links_left_out"] == {}


def random_reference(path: str, values: dict[str, str]) -> str | None:
    number = 0 if path == "/" else number_of(path)
    if number is None:
        return None
    links = linked(lambda n: f"/page{n}.html?ref={secrets.token_hex(3)}")
    return f"<title>{number}</title><p>{words(number)}</p>{links}"


def test_a_parameter_that_changes_nothing_is_learnt(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with serving(Made(random_reference)) as served:
        url = f"http://127.0.0.1:{served.port}"
        done = crawl(f"{url}/", out=out)
        assert contents(served.asked) == set(range(PAGES))
        assert len(served.asked) <= 2 * (PAGES + 2), len(served.asked)
        assert done.summary["links_left_out"]["parameter"] > 100
        ended = [line for line in done.log if "changes nothing" in (line.get("reason") or "")]
        assert ended
        assert all(line["outcome"] == "duplicate" for line in ended)

        account = json.loads(told("why", f"{url}/page3.html?ref=new", "--out", out, "--json"))
        assert account["parameters"]["stripped"] == "ref"
        assert account["parameters"]["visited_as"] == f"{url}/page3.html"
        said = told("why", f"{url}/page3.html?ref=new", "--out", out)
        assert "changes nothing" in said
        assert "had the same page with another value" in said

        # An operator who knows better is obeyed, for good.
        rows = json.loads(told("patterns", out, "--json"))["parameters"]
        assert {(row["parameter"], row["state"]) for row in rows} == {("ref", "learnt")}
        assert "?ref: changes nothing" in told("patterns", out)
        host = f"127.0.0.1:{served.port}"
        answer = json.loads(told("patterns", out, "--take-up", host, "--pattern", "?ref", "--json"))
        assert answer["taken_up"][host] == len(ended)
        assert [row["state"] for row in answer["parameters"]] == ["kept"]
        asked = len(served.asked)
        crawl("--resume", "--max-pages", str(len(done.log) + 150), out=out)
        again = [place for place in served.asked[asked:] if "ref=" in place]
        assert len(again) > 20


def test_pages_of_lists_are_never_taken_for_one(tmp_path: Path) -> None:
    def make(path: str, values: dict[str, str]) -> str | None:
        if path == "/":
            return "".join(f'<a href="/list{n}?page=1">a list</a>' for n in range(30))
        if not path.startswith("/list"):
            return None
        # Most lists have one page only, and that is what they are without the parameter.
        number, page = int(path.removeprefix("/list")), int(values.get("page", "1"))
        last = 1 if number < 20 else 4
        if page > last:
            return None
        links = "".join(f'<a href="{path}?page={n}">{n}</a>' for n in range(1, last + 1))
        return f'<p>{words(number * 10 + page)}</p><a href="{path}">first</a>{links}'

    with serving(Made(make)) as served:
        done = crawl(f"http://127.0.0.1:{served.port}/", out=tmp_path / "out")
    wanted = {f"/list{n}?page={page}" for n in range(20, 30) for page in range(1, 5)}
    assert wanted <= set(served.asked)
    assert "parameter" not in done.summary["links_left_out"]


def session(path: str, values: dict[str, str]) -> str | None:
    number = 0 if path == "/" else number_of(path)
    if number is None:
        return None
    token = secrets.token_hex(16)
    links = linked(lambda n: f"/page{n}.html?key={token}")
    clock = time.strftime("%H:%M:%S")
    return f"<p>It is {clock}, your key is {token}</p><p>{words(number)}</p>{links}"


def test_a_session_that_changes_with_each_answer_is_learnt(tmp_path: Path) -> None:
    with serving(Made(session)) as served:
        done = crawl(f"http://127.0.0.1:{served.port}/", out=tmp_path / "out")
    assert contents(served.asked) == set(range(PAGES))
    assert len(served.asked) <= 2 * (PAGES + 2), len(served.asked)
    assert done.summary["links_left_out"]["parameter"] > 100


def test_what_was_learnt_outlives_a_kill(tmp_path: Path) -> None:
    out = tmp_path / "out"
    asked = itertools.count()

    def make(path: str, values: dict[str, str]) -> str | None:
        page = random_reference(path, values)
        if page is not None and next(asked) > 60:
            time.sleep(0.2)
        return page

    with serving(Made(make)) as served:
        url = f"http://127.0.0.1:{served.port}/"
        # More pages, found late, so that there is work after the finding.
        command = [*COMMAND, url, "--allow-private", "--delay", "0s", "--json", "--out", str(out)]
        command += ["--set", "store.batch_wait=10ms", "--set", "policy.parameters.sample=1"]
        command += ["--set", "policy.parameters.samples=1000"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while len(served.asked) < 70 and process.poll() is None:
            time.sleep(0.02)
        assert process.poll() is None
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        rows: list[dict[str, Any]] = json.loads(told("patterns", out, "--json"))["parameters"]
    assert rows
    assert all(row["state"] == "learnt" for row in rows)
