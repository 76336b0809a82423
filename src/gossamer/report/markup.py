"""HTML made of values: text is escaped unless it is `Html` already, so nothing from the web gets through raw."""

from html import escape

from gossamer.words import plain


class Html(str):
    """Text that is HTML. Made here only."""

    __slots__ = ()


def text(value: str, limit: int = 300) -> Html:
    """Text from anywhere, made harmless: escaped, without control characters, bounded."""
    return Html(escape(plain(value, limit)))


def tag(name: str, *children: "Html | str | None", **attributes: object) -> Html:
    """An element. `class_` for `class`; an underscore in a name is a hyphen."""
    named = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(str(value), 4000)}"'
        for key, value in attributes.items()
        if value is not None
    )
    inner = "".join(
        one if isinstance(one, Html) else text(one) for one in children if one is not None
    )
    return Html(f"<{name}{named}>{inner}</{name}>")


def shape(name: str, **attributes: object) -> Html:
    """An element of SVG without content."""
    return tag(name, **attributes)


def prose(value: str, limit: int = 600) -> Html:
    """Our own words; a command, and what stands between backticks, is code."""
    if value.startswith("gossamer "):
        return tag("code", text(value, limit))
    parts = plain(value, limit).split("`")
    if len(parts) % 2 == 0:
        return text(value, limit)
    return Html(
        "".join(
            escape(part) if not place % 2 else f"<code>{escape(part)}</code>"
            for place, part in enumerate(parts)
        )
    )


def web(value: str, limit: int = 120) -> Html:
    """A name or URL from the web: its direction of writing does not reach what stands beside it."""
    return tag("bdi", text(value, limit), class_="web")


def joined(parts: "list[Html]") -> Html:
    return Html("".join(parts))
