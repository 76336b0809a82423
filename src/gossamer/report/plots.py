"""Plots as SVG. Shapes only, stretched to the width there is; what is written stands in HTML beside them."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from gossamer.report.markup import Html, shape, tag

HEIGHT = 100


class Layer(NamedTuple):
    """Counts by step; `kind` is the class that has the colour."""

    label: str
    kind: str
    values: Sequence[float]


def nice(value: float) -> float:
    """The next round number."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= value * 0.9999)


def stacked(
    title: str, unit: str, layers: Sequence[Layer], ends: Sequence[str], words: Sequence[str]
) -> Html:
    """Bars, each layer on those below it. `words`: the labels of top and middle for a given top."""
    top = peak(layers)
    width = max((len(layer.values) for layer in layers), default=0)
    low = [0.0] * width
    bars: list[Html] = []
    for layer in layers:
        for place, value in enumerate(layer.values):
            if value:
                tall = HEIGHT * value / top
                bars.append(
                    shape("rect", x=place + 0.06, y=_round(HEIGHT - low[place] - tall), width=0.88,
                          height=_round(tall), class_=layer.kind)
                )  # fmt: skip
                low[place] += tall
    grid = [
        shape("line", x1=0, x2=width, y1=y, y2=y, class_="grid") for y in (0, HEIGHT // 2, HEIGHT)
    ]
    drawing = tag(
        "svg",
        *grid,
        *bars,
        viewBox=f"0 0 {width} {HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        aria_label=title,
    )
    scale = tag("div", *(tag("span", word) for word in (*words, "0")), class_="ys")
    # A label for each bar stands below it; two are those of the ends.
    kind = "xs each" if len(ends) == width else "xs"
    below = tag("div", *(tag("span", end) for end in ends), class_=kind)
    return tag(
        "figure",
        tag("figcaption", title, " ", tag("span", unit, class_="unit")),
        tag("div", scale, drawing, below, class_="frame"),
        keys([(layer.label, layer.kind) for layer in layers]) if len(layers) > 1 else None,
    )


def peak(layers: Sequence[Layer]) -> float:
    """The top of the scale for bars on bars."""
    rows = zip(*(layer.values for layer in layers), strict=True)
    return nice(max((sum(row) for row in rows), default=0))


def _round(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


class Part(NamedTuple):
    """A part of a bar; `kind` is the class that has the colour."""

    label: str
    kind: str
    number: int


def parts_bar(parts: Sequence[Part]) -> Html:
    """A bar made of the shares of its parts, side by side."""
    whole = sum(part.number for part in parts)
    drawn: list[Html] = []
    left = 0.0
    for part in parts:
        if part.number:
            wide = 100 * part.number / whole
            drawn.append(
                shape("rect", x=_round(left), y=0, width=_round(wide), height=10, class_=part.kind)
            )
            left += wide
    said = ", ".join(f"{part.label} {part.number}" for part in parts)
    return tag(
        "svg", *drawn, viewBox="0 0 100 10", preserveAspectRatio="none", role="img", aria_label=said, class_="parts"
    )  # fmt: skip


def keys(parts: Sequence[tuple[str, str]]) -> Html:
    """What the colours mean: labels and their kinds."""
    return tag("div", *(tag("span", label, class_=kind) for label, kind in parts), class_="keys")


def bar(part: float, whole: float, kind: str) -> Html:
    """A bar of its share."""
    share = 100 * part / whole if whole else 0.0
    return tag("span", "", class_=f"bar {kind}", style=f"width:{share:.1f}%")
