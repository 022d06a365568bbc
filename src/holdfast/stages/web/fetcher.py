"""How is a page of the web fetched? The one way out for all documents.

    address -> resolve, check all answers -> connect to one of them -> ask -> elsewhere? once more

Every hop is read, resolved and checked anew; what is connected to is what was checked. No proxy, no
cookie, no password, nothing of the environment. At most five redirects, a number of bytes counted
after unpacking, and one deadline over all of it.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from holdfast.domain.addresses import Address, address_of, followed
from holdfast.domain.errors import InvalidInput, Permanent, Transient
from holdfast.ports import Clock, Fetched, Runtime, Wanted
from holdfast.stages.web.answers import (
    ELSEWHERE,
    UNCHANGED,
    failure,
    is_content,
    media_type_of,
)
from holdfast.stages.web.bodies import body_of
from holdfast.stages.web.deadline import Deadline
from holdfast.stages.web.networks import Allowed
from holdfast.stages.web.resolving import Resolve, checked_answers, system_resolve

if TYPE_CHECKING:
    import httpcore

    from holdfast.stages.web.lines import Dial

AGENT = "Holdfast"
MOST_REDIRECTS = 5
LONGEST_MARK = 256


@cache
def authorities() -> ssl.SSLContext:
    """The system's authorities and the usual ones: a small container may have none of its own."""
    import certifi

    trusted = ssl.create_default_context()
    trusted.load_verify_locations(certifi.where())
    return trusted


@dataclass(frozen=True, slots=True)
class Answer:
    """One hop: where it leads, or what it brought."""

    elsewhere: str | None
    fetched: Fetched | None


@dataclass(frozen=True, slots=True)
class HttpFetcher:
    """The Fetcher of a real installation; tests give it names and machines of their own."""

    clock: Clock
    runtime: Runtime
    allowed: Allowed
    max_bytes: int
    timeout: float
    resolve: Resolve = system_resolve
    dial: Dial | None = None
    trusted: Callable[[], ssl.SSLContext] = authorities

    def fetch(self, wanted: Wanted, check: Callable[[], None]) -> Fetched:
        address = _address(wanted.url)
        until = self.clock.mono() + self.timeout
        for _ in range(1 + MOST_REDIRECTS):
            answer = self._ask(address, wanted, Deadline(self.clock, until, check, address.shown))
            if answer.fetched is not None:
                return answer.fetched
            address = followed(address, answer.elsewhere or "")
        raise Permanent(
            f"{wanted.url} leads on and on: more than {MOST_REDIRECTS} redirects",
            code="fetch_failed",
        )

    def _ask(self, address: Address, wanted: Wanted, deadline: Deadline) -> Answer:
        answers = checked_answers(address, self.allowed, self.resolve, self.runtime, deadline)
        url, headers, name = (
            _url(address),
            _headers(address, wanted),
            {"sni_hostname": address.host},
        )
        with (
            _translated(address),
            self._line(answers, deadline) as pool,
            pool.stream("GET", url, headers=headers, extensions=name) as response,
        ):
            return self._answer(address, wanted, response)

    @contextmanager
    def _line(self, answers: list[str], deadline: Deadline) -> Iterator[httpcore.ConnectionPool]:
        import httpcore

        from holdfast.stages.web.lines import PinnedNetwork, system_dial

        network = PinnedNetwork(answers, self.dial or system_dial, deadline)
        with httpcore.ConnectionPool(
            ssl_context=self.trusted(), max_connections=1, retries=0, network_backend=network
        ) as pool:
            yield pool

    def _answer(self, address: Address, wanted: Wanted, response: httpcore.Response) -> Answer:
        headers, is_known = _read(response), response.status == UNCHANGED and wanted.is_known
        if response.status in ELSEWHERE and headers.get("location"):
            return Answer(headers["location"], None)
        if not is_known and not is_content(response.status):
            raise failure(response.status, headers, address.shown, self.clock.wall())
        content = None
        if not is_known:
            encoding = headers.get("content-encoding", "")
            content = body_of(response.iter_stream(), encoding, self.max_bytes, address.shown)
        kind, charset = media_type_of(headers)
        tag, time = _mark(headers, "etag"), _mark(headers, "last-modified")
        return Answer(None, Fetched(str(address), content, kind, charset, tag, time))


def _address(url: str) -> Address:
    """The address to begin with; what may be added may still be refused here."""
    try:
        return address_of(url)
    except InvalidInput as error:
        raise Permanent(str(error), code="fetch_refused") from error


def _url(address: Address) -> httpcore.URL:
    """From its parts: nobody reads the text again."""
    import httpcore

    return httpcore.URL(
        scheme=address.scheme.encode(),
        host=address.host.encode(),
        port=address.port,
        target=address.target.encode(),
    )


def _headers(address: Address, wanted: Wanted) -> list[tuple[str, str]]:
    headers = [
        ("Host", address.authority),
        ("User-Agent", AGENT),
        ("Accept", "text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8"),
        ("Accept-Encoding", "gzip, deflate"),
        ("Connection", "close"),
    ]
    if wanted.etag:
        headers.append(("If-None-Match", wanted.etag))
    if wanted.last_modified:
        headers.append(("If-Modified-Since", wanted.last_modified))
    return headers


def _read(response: httpcore.Response) -> dict[str, str]:
    """The headers by their names in small letters; the first of a name counts."""
    found: dict[str, str] = {}
    for name, value in response.headers:
        found.setdefault(name.decode("ascii").lower(), _text(value))
    return found


def _mark(headers: dict[str, str], name: str) -> str | None:
    """What is sent back with the next request has to fit into one."""
    value = headers.get(name, "")[:LONGEST_MARK]
    return value if value and value.isascii() and value.isprintable() else None


def _text(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value.decode("latin-1")


@contextmanager
def _translated(address: Address) -> Iterator[None]:
    """What the libraries below say, in our words."""
    import httpcore

    try:
        yield
    except ssl.SSLCertVerificationError as error:
        sentence = f"{address.shown} has no certificate to be trusted: {error.verify_message}"
        raise Permanent(sentence, code="fetch_failed") from error
    except (
        OSError,
        httpcore.NetworkError,
        httpcore.TimeoutException,
        httpcore.ProtocolError,
    ) as error:
        sentence = f"{address.shown} broke off: {str(error) or type(error).__name__}"
        raise Transient(sentence, code="fetch_failed") from error
