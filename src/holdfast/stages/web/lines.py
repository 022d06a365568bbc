"""How is a connection made that leads where it was checked to lead?

A network for httpcore: every connection goes to the addresses it was given, whatever host is named;
the other end is looked at before a byte is sent. Each wait is short, so that the deadline and a
cancelled run are heard in the middle of it.
"""

from __future__ import annotations

import select
import socket
import ssl
from collections.abc import Callable, Iterable, Sequence
from errno import EINPROGRESS, EISCONN, EWOULDBLOCK
from ipaddress import ip_address
from typing import Any

import httpcore

from holdfast.domain.errors import Permanent, Transient
from holdfast.stages.web.deadline import Deadline

CONNECT = 10.0  # seconds for one address: another may answer

Dial = Callable[[str, int, Deadline], socket.socket]


def system_dial(address: str, port: int, deadline: Deadline) -> socket.socket:
    """Connect to exactly this address."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    line = socket.socket(family, socket.SOCK_STREAM)
    try:
        line.setblocking(False)
        error = line.connect_ex((address, port))
        waiting = select.poll()  # unlike `select` it knows handles beyond the first 1,024
        waiting.register(line, select.POLLOUT)
        while error in (EINPROGRESS, EWOULDBLOCK):
            ready = waiting.poll(deadline.slice() * 1_000)
            error = line.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) if ready else error
        if error not in (0, EISCONN):
            raise OSError(error, f"{address} port {port} does not answer")
    except BaseException:
        line.close()
        raise
    return line


class PinnedNetwork(httpcore.NetworkBackend):
    """Leads to the addresses it was made with and nowhere else."""

    def __init__(self, answers: Sequence[str], dial: Dial, deadline: Deadline) -> None:
        self._answers, self._dial, self._deadline = answers, dial, deadline

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        failed: Exception | None = None
        for answer in self._answers:
            try:
                line = self._dial(answer, port, self._deadline.within(CONNECT))
            except (OSError, Transient) as error:
                self._deadline.left()  # else the next address has its turn
                failed = error
                continue
            return Line(_looked_at(line, answer), self._deadline)
        raise Transient(f"{host} cannot be reached: {failed}", code="fetch_failed") from failed


def _looked_at(line: socket.socket, answer: str) -> socket.socket:
    """Is it who was checked? The last look before anything is said."""
    try:
        peer = str(line.getpeername()[0])
        is_meant = ip_address(peer.partition("%")[0]) == ip_address(answer.partition("%")[0])
    except (OSError, ValueError) as error:
        line.close()
        raise Transient(f"{answer} hung up: {error}", code="fetch_failed") from error
    if not is_meant:
        line.close()
        sentence = f"a connection to {answer} led to {peer}"
        raise Permanent(sentence, code="fetch_refused")
    return line


class Line(httpcore.NetworkStream):
    """One connection; waits in slices and ends with the deadline."""

    def __init__(self, line: socket.socket, deadline: Deadline) -> None:
        self._line, self._deadline = line, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return bytes(self._patiently(lambda: self._line.recv(max_bytes)))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        rest = memoryview(buffer)
        while rest:
            rest = rest[self._patiently(lambda part=rest: self._line.send(part)) :]  # type: ignore[misc]

    def close(self) -> None:
        self._line.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        line = _wrapped(self._line, ssl_context, server_hostname)
        try:
            secure = Line(line, self._deadline)
            secure._patiently(line.do_handshake)
        except BaseException:
            line.close()
            raise
        return secure

    def get_extra_info(self, info: str) -> Any:
        return self._line if info == "socket" else None

    def _patiently(self, act: Callable[[], Any]) -> Any:
        while True:
            self._line.settimeout(self._deadline.slice())
            try:
                return act()
            except TimeoutError:
                continue


def _wrapped(line: socket.socket, context: ssl.SSLContext, name: str | None) -> ssl.SSLSocket:
    try:
        return context.wrap_socket(line, server_hostname=name, do_handshake_on_connect=False)
    except ValueError as error:  # the interpreter encodes the name once more, by older rules
        line.close()
        sentence = f"{name} is no name that a certificate could have: {error}"
        raise Permanent(sentence, code="fetch_refused") from error
    except BaseException:
        line.close()
        raise
