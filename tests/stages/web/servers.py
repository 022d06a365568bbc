"""Real servers on loopback, and a fetcher for whom they stand at public addresses.

Names are resolved by a table; what is dialled at a public address leads to a server of ours, and
what is dialled anywhere else leads to one that must never be reached: it counts its visitors.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from holdfast.machine.clock import SystemClock
from holdfast.machine.threads import Threads
from holdfast.ports import Fetched, Wanted
from holdfast.stages.web.deadline import Deadline
from holdfast.stages.web.fetcher import HttpFetcher
from holdfast.stages.web.lines import system_dial
from holdfast.stages.web.networks import Allowed, allowed_of

PUBLIC = "93.184.216.34"
OTHER = "93.184.216.35"


@dataclass(frozen=True)
class Reply:
    """What a server answers."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    pieces: Callable[[], Iterator[bytes]] | None = None  # a body sent as it comes


@dataclass
class Asked:
    """A request as it arrived."""

    path: str
    headers: Mapping[str, str]


Answering = Callable[[Asked], Reply]


class Site:
    """A server that answers as it is told and remembers who came."""

    def __init__(self, answer: Answering) -> None:
        self.answer, self.asked = answer, list[Asked]()
        self.connections = 0
        self._server = _Server(("127.0.0.1", 0), self)
        self.port = int(self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    def secure(self, context: ssl.SSLContext) -> None:
        self._server.context = context

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def reply(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        return self.answer(asked)


class _Server(ThreadingHTTPServer):
    request_queue_size = 64
    daemon_threads = True
    context: ssl.SSLContext | None = None

    def __init__(self, place: tuple[str, int], site: Site) -> None:
        self.site = site
        super().__init__(place, _Handler)

    def get_request(self) -> tuple[socket.socket, Any]:
        found = super().get_request()
        self.site.connections += 1
        return found

    def finish_request(self, request: Any, client_address: Any) -> None:
        if self.context is None:
            super().finish_request(request, client_address)
            return
        with self.context.wrap_socket(request, server_side=True) as secure:
            super().finish_request(secure, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.server.site.reply(Asked(self.path, headers))
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.pieces is None and "Content-Length" not in reply.headers:
            self.send_header("Content-Length", str(len(reply.body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for piece in reply.pieces() if reply.pieces else [reply.body]:
            self.wfile.write(piece)

    def log_message(self, *_args: Any) -> None:
        """Silence."""


@contextmanager
def site(answer: Answering | Mapping[str, Reply]) -> Iterator[Site]:
    """A server for one test."""
    there = Site(answer if callable(answer) else _from(answer))
    try:
        yield there
    finally:
        there.close()


def _from(pages: Mapping[str, Reply]) -> Answering:
    return lambda asked: pages.get(asked.path, Reply(b"nothing here", 404))


def no_names(host: str, _port: int) -> Sequence[str]:
    """Numbers are what they are, in every way the system reads them; no name is looked up."""
    found = socket.getaddrinfo(host, 80, flags=socket.AI_NUMERICHOST, type=socket.SOCK_STREAM)
    return [str(place[0]) for *_, place in found]


@dataclass
class Web:
    """Which names there are, and which server stands at which address."""

    names: dict[str, Sequence[str]] = field(default_factory=dict)
    sites: dict[str, Site] = field(default_factory=dict)
    elsewhere: Site | None = None
    resolved: list[str] = field(default_factory=list)
    dialled: list[str] = field(default_factory=list)

    def resolve(self, host: str, port: int) -> Sequence[str]:
        self.resolved.append(host)
        return self.names[host] if host in self.names else no_names(host, port)

    def dial(self, address: str, port: int, deadline: Deadline) -> socket.socket:
        self.dialled.append(address)
        there = self.sites.get(address, self.elsewhere)
        if there is None:
            raise OSError(f"nobody is at {address}")
        return Seeming(system_dial("127.0.0.1", there.port, deadline), address)


class Seeming(socket.socket):
    """A connection to loopback that says it leads to a public address."""

    def __init__(self, inner: socket.socket, address: str) -> None:
        super().__init__(inner.family, inner.type, fileno=inner.detach())
        self.address = address

    def getpeername(self) -> Any:
        return (self.address, 80)


def fetcher(web: Web, *, allowed: Allowed | None = None, **given: Any) -> HttpFetcher:
    return HttpFetcher(
        clock=SystemClock(),
        runtime=Threads(),
        allowed=allowed or allowed_of([8080], []),
        max_bytes=given.pop("max_bytes", 1 << 20),
        timeout=given.pop("timeout", 20.0),
        resolve=given.pop("resolve", web.resolve),
        dial=given.pop("dial", web.dial),
        **given,
    )


def get(fetcher: HttpFetcher, url: str, **wanted: str) -> Fetched:
    return fetcher.fetch(Wanted(url, **wanted), lambda: None)


def drip(piece: bytes, pause: float) -> Iterator[bytes]:
    """A body without an end, a little at a time."""
    while True:
        yield piece
        time.sleep(pause)
