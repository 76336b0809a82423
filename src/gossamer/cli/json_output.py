"""The object that `--json` prints."""

import json

import msgspec


def print_json(value: object) -> None:
    """On one line. What a terminal would obey is in JSON's own escapes: whoever reads it gets the same values."""
    text = msgspec.json.encode(value).decode()
    print(text if text.isprintable() else "".join(map(_escaped, text)))


def _escaped(character: str) -> str:
    return character if character.isprintable() else json.dumps(character)[1:-1]
