"""The page about failures says what the program does: its tables are those of the code."""

from collections.abc import Iterator
from pathlib import Path

from gossamer.policy.hosts import robots, set_aside, throttling
from gossamer.policy.hosts.outcomes import FREE_TRIES, LONGEST_RETRY_AFTER, REACTIONS
from gossamer.policy.hosts.robots import Patience
from gossamer.settings.model import PolitenessSettings
from gossamer.settings.units import show_duration

PAGE = (Path(__file__).parents[2] / "docs/reference/failures.md").read_text()


def waits(tries: int, wait: float, growth: float) -> str:
    return ", ".join(show_duration(wait * growth**n) for n in range(tries - 1)) or "none"


def rows_of_hosts() -> Iterator[str]:
    named: list[tuple[str, Patience]] = [
        *((f"`{name}`", of) for name, of in robots.PATIENCE.items()),
        ("any other", robots.OTHERS),
    ]
    for name, of in named:
        end = show_duration(of.ends_after()) if of.tries > 1 else "at once"
        yield f"| {name} | {of.tries} | {waits(*of[:3])} | {end} | {of.reason} |"


def rows_of_urls() -> Iterator[str]:
    for name, of in REACTIONS.items():
        tries = f"{of.tries}, and up to {FREE_TRIES} that do not count" if of.free else of.tries
        yield f"| `{name}` | {of.meaning} | {tries} | {waits(*of[:3])} | {of.blame.value} |"


def rows_of_remedies() -> Iterator[str]:
    for name, of in REACTIONS.items():
        if of.remedy:
            yield f"| `{name}` | {of.remedy} |"


def test_the_tables_are_those_of_the_code() -> None:
    for rows in (rows_of_hosts(), rows_of_urls(), rows_of_remedies()):
        assert "\n".join(rows) in PAGE


def test_the_numbers_in_the_text_are_those_of_the_code() -> None:
    polite = PolitenessSettings()
    for words in (
        f"{polite.set_aside_after} failures in a row",
        f"{show_duration(polite.set_aside_for)}, each time {set_aside.GROWTH:g} times as long",
        f"up to {show_duration(LONGEST_RETRY_AFTER)}",
        f"at least {show_duration(throttling.LEAST)} and at most {show_duration(throttling.LONGEST)}",
        f"{throttling.STRETCH} good answers",
        f"`politeness.robots_patience` ({show_duration(polite.robots_patience)})",
    ):
        assert words in " ".join(PAGE.split()), words


def test_every_failure_of_a_host_names_a_remedy() -> None:
    assert set(robots.PATIENCE) - {"internal_error"} <= {
        name for name, of in REACTIONS.items() if of.remedy
    }


def test_hosts_that_were_never_there_end_in_minutes() -> None:
    ends = {name: of.ends_after() for name, of in robots.PATIENCE.items()}
    assert ends["forbidden_address"] == ends["url_refused"] == 0
    assert ends["dns_not_found"] <= 10
    assert ends["tls_failed"] <= 60
    assert ends["connect_failed"] <= 120
    assert max(ends.values()) <= 3600
