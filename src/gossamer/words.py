"""Numbers and foreign text as people read them, the same everywhere. Crawled text never reaches a terminal raw."""


def count(number: float) -> str:
    return f"{number:,.0f}".replace(",", " ")


def counted(number: int, noun: str) -> str:
    """A number of things."""
    return f"{count(number)} {noun}" if number == 1 else f"{count(number)} {noun}s"


def size(number: float, places: int = 1) -> str:
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if number < 1024 or unit == "TiB":
            return f"{number:.{0 if unit == 'B' else places}f} {unit}"
        number /= 1024
    raise AssertionError


def span(seconds: float) -> str:
    """A span of time in its two largest units."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    if whole < 86400:
        return f"{whole // 3600} h {whole % 3600 // 60:02} min"
    return f"{whole // 86400} d {whole % 86400 // 3600:02} h"


def short_span(seconds: float) -> str:
    """A span that may be a part of a second."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 10 else span(seconds)


def plain(text: str, limit: int = 200) -> str:
    """Foreign text made harmless for a terminal: no control characters, bounded."""
    shown = "".join(
        character if character.isprintable() else f"\\x{ord(character):02x}"
        for character in text[:limit]
    )
    return shown + ("…" if len(text) > limit else "")
