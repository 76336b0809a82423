"""Numbers and foreign text as people read them. Crawled text never reaches a terminal raw."""


def count(number: float) -> str:
    return f"{number:,.0f}".replace(",", " ")


def size(number: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if number < 1024 or unit == "TiB":
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
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


def plain(text: str, limit: int = 200) -> str:
    """Foreign text made harmless for a terminal: no control characters, bounded."""
    shown = "".join(
        character if character.isprintable() else f"\\x{ord(character):02x}"
        for character in text[:limit]
    )
    return shown + ("…" if len(text) > limit else "")
