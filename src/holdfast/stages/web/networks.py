"""Which machines may be asked? Decided on the binary address that will be connected to.

A name or a number in an address says nothing: only what it resolves to does. Forms that carry
another address inside (mapped, translated, 6to4, Teredo) are judged by what they carry as well.
`ipaddress` calls several of them global that are not, so the networks stand here one by one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

from holdfast.domain.errors import InvalidInput

IP = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

LOCAL = {
    "0.0.0.0/8": "an address of this machine",
    "10.0.0.0/8": "a private address",
    "100.64.0.0/10": "an address of a provider's inner network",
    "127.0.0.0/8": "an address of this machine",
    "168.63.129.16/32": "a cloud's metadata service",
    "169.254.0.0/16": "a link-local address or a cloud's metadata service",
    "172.16.0.0/12": "a private address",
    "192.0.0.0/24": "a reserved address or a cloud's metadata service",
    "192.0.2.0/24": "an address for examples",
    "192.31.196.0/24": "a reserved address",
    "192.52.193.0/24": "a reserved address",
    "192.88.99.0/24": "a relay of 6to4",
    "192.168.0.0/16": "a private address",
    "192.175.48.0/24": "a reserved address",
    "198.18.0.0/15": "an address for measurements",
    "198.51.100.0/24": "an address for examples",
    "203.0.113.0/24": "an address for examples",
    "224.0.0.0/4": "a multicast address",
    "240.0.0.0/4": "a reserved address",
}
PUBLIC_6 = IPv6Network("2000::/3")
LOCAL_6 = {
    "2001::/23": "a reserved address",
    "2001:db8::/32": "an address for examples",
    "2620:4f:8000::/48": "a reserved address",
    "3fff::/20": "an address for examples",
}
REFUSED_4 = [(IPv4Network(network), why) for network, why in LOCAL.items()]
REFUSED_6 = [(IPv6Network(network), why) for network, why in LOCAL_6.items()]
MAPPED = IPv6Network("::ffff:0:0/96")
NAT64 = IPv6Network("64:ff9b::/96")
SIX_TO_FOUR = IPv6Network("2002::/16")
ISATAP = (0x00005EFE, 0x02005EFE)


@dataclass(frozen=True, slots=True)
class Allowed:
    """What an installation allows beside the public web."""

    ports: frozenset[int] = frozenset()
    networks: tuple[Network, ...] = ()
    hosts: frozenset[str] = frozenset()


def allowed_of(ports: Iterable[int], places: Iterable[str]) -> Allowed:
    """From the settings `fetch_ports` and `fetch_allow`."""
    networks: list[Network] = []
    hosts: set[str] = set()
    for place in places:
        network = _network(place)
        if network is not None:
            networks.append(network)
        elif "/" in place or not place:
            raise InvalidInput(f"setting fetch_allow holds {place!r}: no network and no host")
        else:
            hosts.add(place.lower().removesuffix("."))
    return Allowed(frozenset(ports), tuple(networks), frozenset(hosts))


def why_refused(address: str, host: str, allowed: Allowed) -> str | None:
    """What kind of address it is that nobody may ask; None when it may be asked."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return "no address at all"
    if host in allowed.hosts or any(_is_in(ip, network) for network in allowed.networks):
        return None
    return _why_refused(ip)


def _why_refused(ip: IP) -> str | None:
    if isinstance(ip, IPv4Address):
        return next((why for network, why in REFUSED_4 if ip in network), None)
    inner = carried(ip)
    if inner is not None and (why := _why_refused(inner)) is not None:
        return f"{why} in another form"
    if ip in MAPPED or ip in NAT64:
        return None  # it is the public address it carries
    if ip not in PUBLIC_6:
        return "no public address"
    return next((why for network, why in REFUSED_6 if ip in network), None)


def carried(ip: IPv6Address) -> IPv4Address | None:
    """The IPv4 address inside; Teredo and others whose form is refused anyway are left out."""
    bits = int(ip)
    if ip in MAPPED or ip in NAT64 or (bits >> 32) & 0xFFFFFFFF in ISATAP:
        return IPv4Address(bits & 0xFFFFFFFF)
    if ip in SIX_TO_FOUR:
        return IPv4Address(bits >> 80 & 0xFFFFFFFF)
    return None


def _is_in(ip: IP, network: Network) -> bool:
    """A mapped address is the address it carries; no other form is."""
    if isinstance(ip, IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    return ip.version == network.version and ip in network


def _network(place: str) -> Network | None:
    try:
        return ip_network(place, strict=False)
    except ValueError:
        return None
