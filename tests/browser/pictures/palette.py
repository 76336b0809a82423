"""Pictures of at most 256 colours: a third of the size, and a page of text looks the same."""

import struct
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
COLOURS = 256


def save(file: Path, pixels: Pixels) -> None:
    """Writes rows of red, green and blue as a PNG file with a palette."""
    palette, indexes = reduce(pixels)
    height, width = indexes.shape
    lines = np.zeros((height, width + 1), np.uint8)
    lines[:, 1:] = indexes
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", palette.tobytes()),
        (b"IDAT", zlib.compress(lines.tobytes(), 9)),
        (b"IEND", b""),
    ]
    file.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts))


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def reduce(pixels: Pixels) -> tuple[Pixels, Pixels]:
    """A palette, and each pixel's place in it: boxes of colours are halved until there are enough."""
    packed = pixels.astype(np.uint32) @ np.array([1 << 16, 1 << 8, 1], np.uint32)
    found, places, counts = np.unique(packed, return_inverse=True, return_counts=True)
    colours = np.stack([found >> 16, (found >> 8) & 255, found & 255], axis=1).astype(np.int64)
    boxes = [np.arange(len(found))]
    while len(boxes) < COLOURS:
        at = max(
            range(len(boxes)), key=lambda one: _spread(colours[boxes[one]], counts[boxes[one]])
        )
        if len(boxes[at]) < 2:
            break
        boxes[at : at + 1] = _halves(boxes[at], colours, counts)
    palette = np.zeros((len(boxes), 3), np.uint8)
    of = np.zeros(len(found), np.uint8)
    for number, box in enumerate(boxes):
        # The commonest, not the mean: grounds keep their colour exactly.
        palette[number] = colours[box[np.argmax(counts[box])]]
        of[box] = number
    return palette, of[places.reshape(packed.shape)]


def _spread(colours: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]) -> float:
    """How wrong one colour for all of them would be; the rare count too, or small marks would lose theirs."""
    if len(colours) < 2:
        return 0.0
    return float(np.ptp(colours, axis=0).max()) ** 2 * float(np.sqrt(counts.sum()))


def _halves(
    box: npt.NDArray[np.int64], colours: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]
) -> list[npt.NDArray[np.int64]]:
    channel = int(np.ptp(colours[box], axis=0).argmax())
    order = box[np.argsort(colours[box, channel], kind="stable")]
    weights = np.cumsum(np.sqrt(counts[order]))
    cut = int(np.searchsorted(weights, weights[-1] / 2)) + 1
    cut = min(max(cut, 1), len(order) - 1)
    return [order[:cut], order[cut:]]
