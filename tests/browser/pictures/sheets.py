"""Sheets: shots of one page in all its states side by side, with captions, drawn by the browser."""

import base64
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from playwright.sync_api import Page
from tests.browser.pictures.palette import Pixels, save

# Draws shots in rows of a given width, each scaled and cut at a height, with its caption above.
_DRAW = """
async ({ shots, wide, scale, most }) => {
  const gap = 24, line = 34;
  const load = async ({ data, caption }) => {
    const image = new Image();
    image.src = `data:image/png;base64,${data}`;
    await image.decode();
    return { image, caption, width: Math.round(image.width * scale), height: Math.round(Math.min(image.height, most) * scale) };
  };
  const loaded = [];
  for (const shot of shots) loaded.push(await load(shot));
  const rows = [];
  let left = Infinity;
  for (const shot of loaded) {
    if (left + shot.width + gap > wide) { rows.push([]); left = gap; }
    rows.at(-1).push({ ...shot, left });
    left += shot.width + gap;
  }
  const bare = loaded.length === 1 && !loaded[0].caption;
  const tall = (row) => Math.max(...row.map((shot) => shot.height)) + line + gap;
  const canvas = new OffscreenCanvas(
    bare ? loaded[0].width : wide, bare ? loaded[0].height : gap + rows.reduce((sum, row) => sum + tall(row), 0),
  );
  const pen = canvas.getContext("2d");
  pen.imageSmoothingQuality = "high";
  pen.fillStyle = "#c9ced4";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  let top = bare ? 0 : gap;
  for (const row of rows) {
    for (const { image, caption, width, height, left } of row) {
      pen.fillStyle = "#18202a";
      pen.font = "600 20px 'DejaVu Sans', sans-serif";
      pen.fillText(caption, left, top + 20);
      const [x, y] = bare ? [0, 0] : [left, top + line];
      pen.drawImage(image, 0, 0, image.width, height / scale, x, y, width, height);
    }
    top += tall(row);
  }
  const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
  return { width: canvas.width, height: canvas.height, pixels: new Uint8Array(data.buffer).toBase64() };
}
"""


@dataclass(frozen=True)
class Shot:
    caption: str
    file: Path


def make_sheet(page: Page, shots: list[Shot], file: Path) -> None:
    """Three desktops across; what is below `most` pixels of a shot is left out."""
    save(file, _draw(page, shots, wide=2040, scale=0.5, most=1100))


def make_picture(page: Page, shot: Path, file: Path) -> None:
    """One shot as it is."""
    save(file, _draw(page, [Shot("", shot)], wide=1 << 14, scale=1.0, most=1 << 14))


def _draw(page: Page, shots: list[Shot], **looks: float) -> Pixels:
    given = [
        {"caption": shot.caption, "data": base64.b64encode(shot.file.read_bytes()).decode()}
        for shot in shots
    ]
    drawn = page.evaluate(_DRAW, {"shots": given, **looks})
    pixels = np.frombuffer(base64.b64decode(drawn["pixels"]), np.uint8)
    return pixels.reshape(drawn["height"], drawn["width"], 4)[:, :, :3]
