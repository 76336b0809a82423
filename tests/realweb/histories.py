"""Git repositories made from real source trees: files arrive and are completed commit by commit, always the same.

The messages are real changes of git, the authors and dates invented; every fiftieth commit has a tag, and a branch
`stable` leaves the main one at two thirds and goes on for some commits.
"""

import random
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.realweb.install import UNPACKED
from tests.realweb.notes import NOTES_PACKAGES, PEOPLE, notes, subject

SOURCE_PACKAGES = ("libpython3.11-stdlib", "perl-modules-5.36", "vim-runtime", *NOTES_PACKAGES)
BEGIN = 1_600_000_000
STEP = 40_000
LONGEST = 60_000


@dataclass(frozen=True)
class Tree:
    """Which files a repository is made of."""

    name: str
    description: str
    root: Path
    pattern: str


TREES = (
    Tree("library", "Modules of a language", UNPACKED / "usr/lib/python3.11", "*.py"),
    Tree("editor", "Scripts of an editor", UNPACKED / "usr/share/vim/vim90", "*.vim"),
    Tree("modules", "Modules with deep paths", UNPACKED / "usr/share/perl/5.36.0", "*.pm"),
)


def create(tree: Tree, place: Path, *, commits: int, files: int) -> None:
    """A bare repository at `place`."""
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", place], check=True)
    (place / "description").write_text(tree.description + "\n")
    (place / "config").open("a").write("[gitweb]\n\towner = The maintainers\n")
    stream = b"".join(_stream(tree, commits, files))
    subprocess.run(["git", "fast-import", "--quiet"], cwd=place, input=stream, check=True)


def contents(tree: Tree, files: int) -> dict[str, bytes]:
    """The files at the end: so many of the tree, spread over its folders."""
    paths = sorted(
        path
        for path in tree.root.rglob(tree.pattern)
        if path.is_file() and not path.is_symlink() and 100 < path.stat().st_size < LONGEST
    )
    chosen = sorted(random.Random(tree.name).sample(paths, min(files, len(paths))))
    return {str(path.relative_to(tree.root)): path.read_bytes() for path in chosen}


def _stream(tree: Tree, commits: int, files: int) -> Iterator[bytes]:
    """For `git fast-import`: each file comes as its first half and is completed later."""
    final = contents(tree, files)
    chance = random.Random(tree.name)
    versions = [(path, half(body)) for path, body in final.items()] + list(final.items())
    changes: list[list[tuple[str, bytes]]] = [[] for _ in range(commits)]
    for number, change in enumerate(versions):
        changes[number * commits // len(versions)].append(change)
    messages = [change for note in notes() for change in note.changes]
    chance.shuffle(messages)
    for number in range(commits):
        # An empty commit would be one that no real history has.
        made = changes[number] or [("NEWS", "\n".join(messages[:number]).encode())]
        made += (
            [("VERSION", f"{number // 50}.{number % 50}\n".encode())] if number % 10 == 0 else []
        )
        yield _commit("main", number, messages[number], made)
        if number % 50 == 49:
            yield _tag(number)
        if number == commits * 2 // 3:
            yield b"reset refs/heads/stable\nfrom refs/heads/main\n\n"
    for number in range(commits, commits + commits // 20):
        fix = ("FIXES", "\n".join(messages[commits : number + 1]).encode())
        yield _commit("stable", number, messages[number], [fix])


def half(body: bytes) -> bytes:
    lines = body.splitlines(keepends=True)
    return b"".join(lines[: max(1, len(lines) // 2)])


def _commit(branch: str, number: int, message: str, changes: Sequence[tuple[str, bytes]]) -> bytes:
    person = PEOPLE[(number * 7) % len(PEOPLE)]
    who = f"{person} <{person.split()[0].lower()}@example.org> {BEGIN + number * STEP} +0000"
    text = f"{subject(message)}\n\n{message}\n".encode()
    head = f"commit refs/heads/{branch}\nauthor {who}\ncommitter {who}\n".encode() + _data(text)
    return head + b"".join(
        f"M 100644 inline {path}\n".encode() + _data(body) for path, body in changes
    )


def _tag(number: int) -> bytes:
    who = f"{PEOPLE[0]} <ada@example.org> {BEGIN + number * STEP + 60} +0000"
    name = f"v0.{number // 50 + 1}"
    return f"tag {name}\nfrom refs/heads/main\ntagger {who}\n".encode() + _data(name.encode())


def _data(body: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(body), body)


def git(place: Path, *arguments: str) -> list[str]:
    """Lines of what git says about a repository."""
    command = ["git", "-c", "core.quotePath=false", *arguments]
    done = subprocess.run(command, cwd=place, check=True, capture_output=True, text=True)
    return done.stdout.splitlines()
