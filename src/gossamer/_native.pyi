# The private extension module. Checked against the built module by `stubtest`.

from typing import final

# --- outcome

def outcome_names() -> list[str]: ...

# --- canonical

# --- robots

# --- sitemap

# --- parse

@final
class ParsedPage:
    @property
    def kind(self) -> str: ...
    @property
    def charset(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def lang(self) -> str: ...
    @property
    def text_bytes(self) -> int: ...
    @property
    def simhash(self) -> int: ...
    @property
    def base(self) -> str | None: ...
    @property
    def canonical(self) -> str | None: ...
    @property
    def noindex(self) -> bool: ...
    @property
    def nofollow(self) -> bool: ...
    @property
    def noarchive(self) -> bool: ...
    @property
    def refresh(self) -> tuple[int, str] | None: ...
    @property
    def links_cut(self) -> bool: ...
    @property
    def links(self) -> list[tuple[str, str, str, str, str]]: ...

def parse_page(
    body: bytes,
    url: str,
    content_type: str | None = None,
    headers: list[tuple[str, str]] = ...,
    *,
    agent: str = "gossamer",
    max_links: int = 10_000,
    anchor_bytes: int = 256,
    forms: bool = False,
    resources: bool = True,
    simhash: bool = True,
) -> ParsedPage: ...
def parse_rounds(bodies: list[bytes], url: str, rounds: int, *, resolve: bool = False) -> int: ...
def near_duplicate(a: int, b: int) -> int: ...

# --- fetch

# --- warc

# --- seen

# --- frontier

# --- simweb
