"""Names over the wire: a small name server of our own says what each name is."""

from __future__ import annotations

import socket
import struct
import threading
import time
from types import TracebackType
from typing import Self

from tests.native.hostile_server import HostileServer, send

from gossamer._native import Fetcher

PAGE = send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
NOERROR, SERVFAIL, NXDOMAIN = 0, 2, 3


class NameServer:
    """Answers A queries from a table of name to (code, addresses); None: no answer at all."""

    def __init__(self, names: dict[str, tuple[int, list[str]] | None]) -> None:
        self.names = names
        self.asked: list[str] = []
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.sendto(b"", self._socket.getsockname())
        self._thread.join(timeout=5)
        self._socket.close()

    def _serve(self) -> None:
        while True:
            query, client = self._socket.recvfrom(4096)
            if not query:
                return
            labels, at = [], 12
            while query[at]:
                labels.append(query[at + 1 : at + 1 + query[at]].decode().lower())
                at += query[at] + 1
            (kind,) = struct.unpack("!H", query[at + 1 : at + 3])
            question = query[12 : at + 5]
            name = ".".join(labels)
            if kind == 1:
                self.asked.append(name)
            known = self.names.get(name, (NXDOMAIN, []))
            if known is None:
                continue
            code, addresses = known
            answers = [socket.inet_aton(ip) for ip in addresses] if kind == 1 else []
            head = query[:2] + struct.pack("!HHHHH", 0x8180 | code, 1, len(answers), 0, 0)
            records = b"".join(
                b"\xc0\x0c" + struct.pack("!HHIH", 1, 1, 300, 4) + ip for ip in answers
            )
            self._socket.sendto(head + question + records, client)


def fetcher(names: NameServer, *, allow_private: bool = True) -> Fetcher:
    dns = {"servers": [names.address], "timeout": 3.0, "attempts": 1}
    return Fetcher({"allow_private": allow_private, "dns": dns, "limits": {"total": 30.0}})


def test_names_are_asked_for_once() -> None:
    table = {"good.test": (NOERROR, ["127.0.0.1"])}
    with NameServer(dict(table)) as names, HostileServer(default=PAGE) as server:
        url = server.url(host="good.test")
        responses = fetcher(names).fetch([url] * 20)
        assert {r.outcome for r in responses} == {"fetched"}
        assert responses[0].ip == "127.0.0.1"
        assert responses[0].timings[0] > 0
        assert names.asked == ["good.test"]
    assert b"Host: good.test:" in server.requests[0]


def test_each_way_of_not_knowing() -> None:
    table: dict[str, tuple[int, list[str]] | None] = {
        "empty.test": (NOERROR, []),
        "broken.test": (SERVFAIL, []),
        "silent.test": None,
    }
    with NameServer(table) as names:
        ask = fetcher(names)
        hosts = ["none.test", "empty.test", "broken.test", "silent.test"]
        began = time.monotonic()
        first = [r.outcome for r in ask.fetch([f"http://{host}/" for host in hosts])]
        assert time.monotonic() - began < 9
        asked = len(names.asked)
        again = [r.outcome for r in ask.fetch([f"http://{host}/" for host in hosts])]
        assert len(names.asked) == asked, "a refusal was not remembered"
    assert first == ["dns_not_found", "dns_not_found", "dns_failed", "dns_failed"]
    assert again == first


def test_a_name_that_points_inside_is_refused_and_nobody_is_visited() -> None:
    table = {
        "inside.test": (NOERROR, ["127.0.0.1"]),
        "both.test": (NOERROR, ["10.0.0.1", "169.254.169.254", "127.0.0.1"]),
    }
    with NameServer(dict(table)) as names, HostileServer(default=PAGE) as server:
        responses = fetcher(names, allow_private=False).fetch([server.url(host=h) for h in table])
    assert [r.outcome for r in responses] == ["forbidden_address"] * 2
    assert server.requests == []


def test_an_answer_that_changes_between_check_and_connect_gains_nothing() -> None:
    """The name is resolved once; what is judged is what is visited."""
    with NameServer({"turn.test": (NOERROR, ["127.0.0.2"])}) as names:
        with HostileServer(default=PAGE) as server:
            ask = fetcher(names)
            # 127.0.0.2 is judged and dialled (nobody listens there); 127.0.0.1 would answer.
            [first] = ask.fetch([server.url(host="turn.test")])
            names.names["turn.test"] = (NOERROR, ["127.0.0.1"])
            [second] = ask.fetch([server.url(host="turn.test")])
            assert server.requests == []
        assert (first.outcome, first.ip) == ("connect_failed", "127.0.0.2")
        assert (second.outcome, second.ip) == ("connect_failed", "127.0.0.2")
        assert names.asked == ["turn.test"]
