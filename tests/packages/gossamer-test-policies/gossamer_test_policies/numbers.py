"""The number at the end of a URL's path, by which the policies of this package choose."""

import re
from urllib.parse import urlsplit


def number(url: str) -> int:
    parts = urlsplit(url)
    digits = re.findall(r"\d+", f"{parts.path}?{parts.query}")
    return int(digits[-1]) if digits else 0
