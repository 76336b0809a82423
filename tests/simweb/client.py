"""A plain HTTP client and HTML reader of the tests' own: nothing of the product is used here."""

import gzip
import http.client
import re
from dataclasses import dataclass, field
from urllib.parse import urldefrag, urljoin, urlsplit

import brotli
import zstandard
from selectolax.lexbor import LexborHTMLParser


@dataclass
class Response:
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass
class Client:
    """Keeps a connection per host. A reset gives status 0."""

    connections: dict[str, http.client.HTTPConnection] = field(default_factory=dict)
    requests: int = 0

    def get(self, url: str, headers: dict[str, str] | None = None, method: str = "GET") -> Response:
        parts = urlsplit(url)
        connection = self.connections.get(parts.netloc)
        if connection is None:
            connection = http.client.HTTPConnection(parts.netloc, timeout=20)
            self.connections[parts.netloc] = connection
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        self.requests += 1
        try:
            connection.request(method, target, headers=headers or {})
            answer = connection.getresponse()
            body = answer.read()
        except (ConnectionError, http.client.HTTPException):
            connection.close()
            del self.connections[parts.netloc]
            return Response(0, {}, b"")
        names = {name.lower(): value for name, value in answer.getheaders()}
        return Response(answer.status, names, body)

    def close(self) -> None:
        for connection in self.connections.values():
            connection.close()


def decoded(response: Response) -> bytes:
    coding = response.headers.get("content-encoding", "")
    if coding == "gzip":
        return gzip.decompress(response.body)
    if coding == "br":
        return bytes(brotli.decompress(response.body))
    if coding == "zstd":
        return zstandard.ZstdDecompressor().decompress(response.body, max_output_size=1 << 24)
    assert coding == ""
    return response.body


def links(url: str, html: bytes) -> list[str]:
    """Distinct http links of a page in their order, by an independent HTML parser."""
    # Bytes to text one to one: the links are ASCII in every charset that is served.
    tree = LexborHTMLParser(html.decode("latin-1"))
    base = url
    for node in tree.css("base[href]"):
        base = urljoin(url, node.attributes["href"] or "")
    found: dict[str, None] = {}
    for node in tree.css("a[href]"):
        href = (node.attributes["href"] or "").strip()
        target = urldefrag(urljoin(base, href)).url
        if target.startswith("http:"):
            found[target] = None
    return list(found)


def title(html: bytes, charset: str) -> str:
    match = re.search(rb"<title>(.*?)(?: <a href=\"/decoy/title\">)?</title>", html, re.DOTALL)
    assert match
    return match[1].decode(charset)
