"""Rules: an ordered list of declarations, `[[rule]]` in TOML, and the credentials that they may name.

What stands here is form: types, units and ranges. Whether an effect can be decided where its rule
matches, and whether an expression compiles, is checked by the native part that compiles the list.
"""

import re
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    model_serializer,
)

from gossamer.settings.units import Duration

MOST_RULES = 1024
"""As the native part has it."""
_YEARS = 10 * 365 * 86400.0
_DEEPEST = 2**16 - 1
_RANGE = re.compile(r"(\d{0,5})\.\.(\d{0,5})|(\d{1,5})")
_STATUS = re.compile(r"([1-9])xx|([1-9]\d\d)(?:-([1-9]\d\d))?")
_OWN = {
    "host", "connection", "content-length", "transfer-encoding", "upgrade", "te", "expect",
    "range", "user-agent", "from",
}  # fmt: skip
"""Headers that the crawler sets by itself; it always says who it is."""
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


def _as_list(value: object) -> object:
    return [value] if isinstance(value, str | int) else value


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def depth_range(text: str) -> tuple[int, int]:
    """From and to of `2..5`, `3..`, `..2` or `4`, both included."""
    found = _RANGE.fullmatch(text)
    if found is None or text == "..":
        raise ValueError(f"a range of depths is written as 2..5, 3.., ..2 or 4; got {text!r}")
    low, high = (found[3], found[3]) if found[3] else (found[1] or "0", found[2] or _DEEPEST)
    if not int(low) <= int(high) <= _DEEPEST:
        raise ValueError(f"{text!r} is no range of depths from 0 to {_DEEPEST}")
    return int(low), int(high)


def status_range(text: str) -> tuple[int, int]:
    """From and to of `404`, `4xx` or `500-503`, both included."""
    found = _STATUS.fullmatch(text)
    if found is None:
        raise ValueError(f"a status is written as 404, 4xx or 500-503; got {text!r}")
    if found[1]:
        return int(found[1]) * 100, int(found[1]) * 100 + 99
    low, high = int(found[2]), int(found[3] or found[2])
    if low > high:
        raise ValueError(f"{text!r} ends before it begins")
    return low, high


def score_change(value: object) -> object:
    """A number sets the score; text with a sign, such as `+0.25`, adds to it."""
    if isinstance(value, str):
        if not re.fullmatch(r"[+-](0(\.\d+)?|1(\.0+)?|\.\d+)", value):
            raise ValueError(f"a number from 0 to 1, or text such as '+0.25'; got {value!r}")
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise ValueError(f"a number from 0 to 1, or text such as '+0.25'; got {value!r}")
    return float(value)


def _checked(check: Any) -> AfterValidator:
    def run(text: str) -> str:
        check(text)
        return text

    return AfterValidator(run)


def _header_name(name: str) -> None:
    if not _HEADER.fullmatch(name) or name.lower() in _OWN:
        raise ValueError(f"{name!r} is no header that can be given")


Text = Annotated[str, StringConstraints(min_length=1, max_length=1000)]
Texts = Annotated[list[Text], BeforeValidator(_as_list)]
Name = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]{1,100}$")]
Statuses = Annotated[
    list[Annotated[str, BeforeValidator(_as_text), _checked(status_range)]],
    BeforeValidator(_as_list),
]
Depths = Annotated[str, BeforeValidator(_as_text), _checked(depth_range)]
Score = Annotated[float | str, BeforeValidator(score_change)]


class Part(BaseModel):
    """A table of a list: unknown names are refused, and what is not given is not written."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_serializer(mode="wrap")
    def _given(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values = handler(self)
        return {name: value for name, value in values.items() if value not in (None, [], {})}


class Match(Part):
    """Conditions: all that are given must hold; of a list, one."""

    host: Texts = Field(default=[], description="hosts, with a port if the URLs have one")
    domain: Texts = Field(default=[], description="names, and all names below them")
    path_prefix: Texts = Field(default=[], description="how path and query begin")
    glob: Texts = Field(default=[], description="path and query as a whole; * is any characters")
    regex: Texts = Field(default=[], description="regular expressions, found anywhere in the URL")
    query: Texts = Field(default=[], description="parameters: name, or name=value with * in it")
    scheme: Texts = Field(default=[], description="http, https")
    depth: Depths | None = Field(default=None, description="links from a seed: 2..5, 3.., ..2, 4")
    kind: Texts = Field(default=[], description="how it was found: a, form, seed, sitemap, …")
    mime: Texts = Field(default=[], description="media types: text/html, image/*")
    status: Statuses = Field(default=[], description="statuses: 404, 4xx, 500-503")


class Rule(Part):
    """Where all of `match` holds, each effect that is given; per effect the first rule decides."""

    name: Name = Field(description="its own, as `why` and the log tell it")
    match: Match = Match()
    drop: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = Field(
        default=None, description="do not visit it, for this reason"
    )
    score: Score | None = Field(
        default=None, description="the score from 0 (last) to 1 (first); with a sign: added to it"
    )
    delay: Annotated[Duration, Field(ge=0, le=_YEARS)] | None = Field(
        default=None, description="gap between visits to the host, instead of politeness.delay"
    )
    per_host: int | None = Field(
        default=None, ge=1, le=64, description="connections, instead of politeness.per_host"
    )
    quota: int | None = Field(
        default=None, ge=1, le=2**32 - 1, description="pages, instead of limits.pages_per_host"
    )
    follow: bool | None = Field(default=None, description="take its links and where it redirects")
    store: bool | None = Field(default=None, description="write its WARC records")
    keep_body: bool | None = Field(default=None, description="its WARC record has the body")
    credentials: Name | None = Field(default=None, description="a name of `credentials`")
    refresh: Annotated[Duration, Field(gt=0, le=_YEARS)] | None = Field(
        default=None, description="visit it again after this time"
    )


class Credentials(Part):
    """Request headers for a site. Values are never in logs, events or `why`."""

    headers: dict[Annotated[str, _checked(_header_name)], str] = Field(
        min_length=1, description="values as they are, as env:NAME or as file:PATH"
    )


def wrong_rule(place: list[str], values: dict[str, Any]) -> str:
    """How an error names a rule: by its own name where it has one, and the field."""
    number, field = int(place[1]), ".".join(place[2:])
    rules = values.get("rule")
    row = rules[number] if isinstance(rules, list) and number < len(rules) else None
    name = row.get("name") if isinstance(row, dict) else None
    who = f"rule '{name}'" if isinstance(name, str) and name else f"rule {number + 1}"
    return f"{who}: {field}" if field else who
