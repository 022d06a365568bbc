"""Which address of the web is meant? Read once; all that is asked of the network is built from it.

Two readers of one address may see two hosts in it: one that is checked and one that is connected
to. So there is one reader. What could be read in two ways (a backslash, a control character, a
space, a name before an @) is refused, and nobody ever looks at the text again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv6Address
from urllib.parse import quote, urljoin

from holdfast.domain.errors import HoldfastError, InvalidInput, Permanent

LONGEST = 4_096
PORTS = {"http": 80, "https": 443}
SHAPE = re.compile(r"(?P<scheme>https?)://(?P<authority>[^/?#]*)(?P<target>[^#]*)", re.IGNORECASE)
PLACE = re.compile(r"(?P<host>\[[^\[\]]*\]|[^:\[\]]*)(?P<port>:[0-9]{0,5})?", re.ASCII)
NAME = re.compile(r"(?!-)[a-z0-9_-]{1,63}(?:\.(?!-)[a-z0-9_-]{1,63})*", re.ASCII)
LITERAL = re.compile(r"[0-9a-fA-F:.]+", re.ASCII)  # no zone behind a %
LONGEST_NAME = 253
SITEMAP = re.compile(r"/[^/?#]*sitemap[^/?#]*\.(?:xml|xml\.gz|txt)(?:[?#]|$)", re.IGNORECASE)
KEPT = "%/:?@[]!$&'()*+,;=~-._"
WEB = ("http://", "https://")


@dataclass(frozen=True, slots=True)
class Address:
    """A page of the web; the host as the resolver, TLS and the server are told it."""

    scheme: str
    host: str  # without the brackets of a literal
    port: int
    target: str  # path and query

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.authority}"

    @property
    def shown(self) -> str:
        """Without the query, which may hold a secret."""
        return self.origin + self.target.partition("?")[0]

    def __str__(self) -> str:
        return self.origin + self.target


def is_web(text: str) -> bool:
    """Does it begin as an address of the web does?"""
    return text[: len(WEB[1])].lower().startswith(WEB)


def names_sitemap(text: str) -> bool:
    """Does it look like the address of a sitemap: `sitemap.xml`, `sitemap_index.xml.gz`?"""
    return SITEMAP.search(text) is not None


def address_of(text: object) -> Address:
    """The address; InvalidInput when it is none, Permanent(`fetch_refused`) if of another kind."""
    if not isinstance(text, str) or not text or len(text) > LONGEST:
        raise InvalidInput(f"an address is 1 to {LONGEST} characters, not {_start(text)}")
    if any(_is_ambiguous(character) for character in text):
        raise InvalidInput(f"{_start(text)} holds a space, a control character or a backslash")
    found = SHAPE.match(text)
    if found is None:
        raise _refused(text, "only http:// and https:// addresses are fetched")
    scheme, authority = found["scheme"].lower(), found["authority"]
    if "@" in authority:
        raise _refused(text[: len(scheme)] + "://…", "an address may not carry a name or password")
    host, port = _place(authority, scheme, text)
    return Address(scheme, host, port, _target(found["target"]))


def followed(base: Address, location: str) -> Address:
    """Where a redirect or a link leads; refused with `fetch_refused` when it leads nowhere."""
    try:
        if any(_is_ambiguous(character) for character in location):
            raise InvalidInput("it holds a space, a control character or a backslash")
        return address_of(urljoin(str(base), location))
    except (HoldfastError, ValueError) as error:
        sentence = f"{base.shown} leads to an address that is not followed: {error}"
        raise Permanent(sentence, code="fetch_refused") from error


def _place(authority: str, scheme: str, text: str) -> tuple[str, int]:
    found = PLACE.fullmatch(authority)
    if found is None:
        raise InvalidInput(f"{_start(text)} has no host that can be read")
    digits = (found["port"] or "")[1:]
    port = int(digits) if digits else PORTS[scheme]
    if not 0 < port < 1 << 16:
        raise InvalidInput(f"{_start(text)} has a port that does not exist")
    return _host(found["host"], text), port


def _host(host: str, text: str) -> str:
    if host.startswith("["):
        return _literal(host[1:-1], text)
    name = (host if host.isascii() else _in_ascii(host, text)).lower().removesuffix(".")
    if len(name) > LONGEST_NAME or not NAME.fullmatch(name):
        raise InvalidInput(f"{_start(text)} has no host that can be read")
    return name


def _literal(inside: str, text: str) -> str:
    try:
        if LITERAL.fullmatch(inside):
            return str(IPv6Address(inside))
    except ValueError:
        pass
    raise InvalidInput(f"{_start(text)} has an address in brackets that is none")


def _in_ascii(host: str, text: str) -> str:
    import idna

    try:
        return idna.encode(host, uts46=True).decode("ascii")
    except (idna.IDNAError, UnicodeError) as error:
        raise InvalidInput(f"{_start(text)} has a host that is no name: {error}") from error


def _target(rest: str) -> str:
    return quote(rest if rest.startswith("/") else f"/{rest}", safe=KEPT)


def _is_ambiguous(character: str) -> bool:
    """What two readers may read in two ways: space, control, backslash, half of a pair."""
    if character == "\\" or character.isspace():
        return True
    is_control = character < " " or "\x7f" <= character <= "\x9f"
    return is_control or "\ud800" <= character <= "\udfff"


def _start(text: object) -> str:
    return repr(text)[:80]


def _refused(text: str, why: str) -> Permanent:
    return Permanent(f"{_start(text)}: {why}", code="fetch_refused")
