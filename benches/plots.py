"""Pictures of the large runs, from what they wrote down: `python -m benches.plots`.

`docs/images/large.svg`: a crawl's memory over the URLs that it knows. `docs/images/whole.svg`: a whole
crawl over its pages. Small multiples, one figure each, from 0 on.
"""

import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

RESULTS = Path("bench-out/large.json")
IMAGES = Path("docs/images")
WIDTH, HEIGHT, COLUMNS = 340, 230, 3
LEFT, RIGHT, TOP, BOTTOM = 58, 16, 34, 44
COLOR = "#0a7a4b"

Row = dict[str, Any]
LARGE = (
    ("cpu_us_per_page", "CPU of all threads, µs per page"),
    ("urls_per_s", "URLs added per second"),
    ("rss_mb", "memory of the process, MB"),
    ("disk_per_queued", "disk per URL queued, the most, bytes"),
    ("amplification", "bytes written beside bytes kept"),
    ("pause_ms", "longest time to apply a batch, ms"),
)
WHOLE = (
    ("cpu_us_per_page", "CPU, µs per page"),
    ("pages_per_s", "pages per second"),
    ("rss_mb", "memory of the process, MB"),
    ("state_mb", "state on disk, MB"),
)


@dataclass(frozen=True)
class Axis:
    """Where values stand on a line from `begin` to `end`, and which of them are named."""

    low: float
    high: float
    begin: float
    end: float
    ticks: tuple[float, ...]
    log: bool = False

    def at(self, value: float) -> float:
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log10(low), math.log10(high), math.log10(value)
        return self.begin + (self.end - self.begin) * (value - low) / (high - low)


def linear(most: float, begin: float, end: float) -> Axis:
    """From 0 to a round number that is no less than `most`, in four or five steps."""
    rough = max(most, 1e-9) / 4
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * times for times in (1, 2, 2.5, 5, 10) if power * times >= rough)
    count = math.ceil(most / step - 1e-9) or 1
    ticks = tuple(step * number for number in range(count + 1))
    return Axis(0.0, ticks[-1], begin, end, ticks)


def logarithmic(values: list[float], begin: float, end: float) -> Axis:
    low, high = min(values), max(values)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if high / low < 1_000 else (1,)
    ticks = tuple(
        tick for power in powers for step in steps if low <= (tick := step * 10.0**power) <= high
    )
    return Axis(low, max(high, low * 1.01), begin, end, ticks, log=True)


def short(value: float) -> str:
    """A number for an axis: 200 k, 20 M."""
    for size, letter in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if value >= 10 * size or (value >= size and letter != " k"):
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def panel(title: str, over: str, points: list[tuple[float, float]], *, log: bool) -> str:
    """One figure with its axes."""
    right, low = WIDTH - RIGHT, HEIGHT - BOTTOM
    values = [x for x, _ in points]
    x = logarithmic(values, LEFT, right) if log else linear(max(values), LEFT, right)
    y = linear(max(value for _, value in points), low, TOP)
    parts = [f'<text x="{LEFT}" y="18" font-weight="bold">{escape(title)}</text>']
    for tick in y.ticks:
        at = y.at(tick)
        parts.append(f'<path d="M{LEFT},{at:.1f}H{right}" stroke="#ddd"/>')
        parts.append(_text(LEFT - 6, at + 4, "end", short(tick)))
    for tick in x.ticks:
        at = x.at(tick)
        parts.append(f'<path d="M{at:.1f},{low}v4" stroke="#555"/>')
        parts.append(_text(at, low + 17, "middle", short(tick)))
    parts.append(f'<path d="M{LEFT},{TOP}V{low}H{right}" fill="none" stroke="#555"/>')
    parts.append(_text((LEFT + right) / 2, HEIGHT - 8, "middle", over))
    places = [(x.at(a), y.at(b)) for a, b in points]
    line = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
    parts.append(f'<polyline points="{line}" fill="none" stroke="{COLOR}" stroke-width="2"/>')
    parts += (f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.5" fill="{COLOR}"/>' for a, b in places)
    return "".join(parts)


def _text(x: float, y: float, anchor: str, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def picture(panels: list[str], columns: int) -> str:
    """The panels side by side, as SVG."""
    width, height = WIDTH * columns, HEIGHT * math.ceil(len(panels) / columns)
    placed = "\n".join(
        f'<g transform="translate({WIDTH * (at % columns)} {HEIGHT * (at // columns)})">{text}</g>'
        for at, text in enumerate(panels)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="11">\n'
        f'<rect width="{width}" height="{height}" fill="white"/>\n{placed}\n</svg>\n'
    )


def draw(rows: list[Row], kind: str, number: Callable[[Row], float], over: str) -> str | None:
    """The picture of a kind of rows, if there are enough of them."""
    figures = LARGE if kind == "queue" else WHOLE
    rows = [row for row in rows if row["bench"] == kind and row["cpu_us_per_page"] is not None]
    if len(rows) < 2:
        return None
    panels = [
        panel(title, over, [(number(row), row[name]) for row in rows], log=kind == "queue")
        for name, title in figures
    ]
    return picture(panels, COLUMNS if kind == "queue" else 2)


def main() -> int:
    rows: list[Row] = json.loads(RESULTS.read_text())
    IMAGES.mkdir(parents=True, exist_ok=True)
    for name, text in (
        ("large", draw(rows, "queue", lambda row: float(row["known"]), "URLs known")),
        ("whole", draw(rows, "whole", lambda row: float(row["pages"]), "pages")),
    ):
        path = IMAGES / f"{name}.svg"
        if text is None:
            print(f"plots: {RESULTS} has no rows for {path}")
        else:
            path.write_text(text)
            print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
