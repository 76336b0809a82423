"""HTTP heads as they stand in WARC records: their fields, read leniently."""

Fields = list[tuple[str, str]]


def fields(head: bytes) -> Fields:
    """Names (in lower case) and values, in their order. Bytes that are not UTF-8 are Latin-1."""
    found: Fields = []
    for line in head.split(b"\n")[1:]:
        name, colon, value = line.partition(b":")
        if not colon:
            continue
        try:
            text = value.strip().decode()
        except UnicodeDecodeError:
            text = value.strip().decode("latin-1")
        found.append((name.strip().decode("latin-1").lower(), text))
    return found


def field(head: Fields, name: str) -> str | None:
    """The value of a field; several are joined by commas; `None`: it is not there."""
    values = [value for known, value in head if known == name]
    return ", ".join(values) if values else None
