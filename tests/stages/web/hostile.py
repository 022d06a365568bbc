"""What do hostile pages, names and addresses try? The tables, and what counts who got through.

python -m bench web        prints the counts
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from ipaddress import IPv4Address
from random import Random

from holdfast.domain.errors import HoldfastError
from holdfast.stages.web.fetcher import HttpFetcher
from holdfast.stages.web.networks import Allowed, allowed_of
from holdfast.stages.web.resolving import Resolve
from tests.stages.web.servers import PUBLIC, Asked, Reply, Site, Web, fetcher, get, site

REDIRECTS = (301, 302, 307, 308)
EVERYWHERE = ("0.0.0.0/0", "::/0")


def _words(text: str) -> list[str]:
    return text.split()


# Every one means a place that may not be asked; most mean this machine.
FORMS = _words("""
127.0.0.1 127.0.0.2 127.1 127.0.1 127.255.255.254 0.0.0.0 0 0.0.0.1 2130706433 2130706434 0x7f000001
0x7f.1 0x7f.0.0.1 0x7F.0x0.0x0.0x1 0177.0.0.1 0177.1 00177.0.0.01 017700000001 127.0.0.0x1
10.0.0.1 10.255.255.255 0xa000001 012.0.0.1 172.16.0.1 172.31.255.255 192.168.0.1 192.168.1.254
3232235521 100.64.0.1 100.100.100.200 169.254.169.254 169.254.0.1 2852039166 0xa9fea9fe
0251.0376.0251.0376 168.63.129.16 192.0.0.192 192.0.0.1 192.0.2.1 198.18.0.1 198.51.100.7
203.0.113.9 192.88.99.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
[::1] [::] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:10.0.0.1]
[::ffff:169.254.169.254] [::127.0.0.1] [::ffff:0:127.0.0.1] [64:ff9b::7f00:1]
[64:ff9b::169.254.169.254] [64:ff9b:1::7f00:1] [2002:7f00:1::] [2002:a9fe:a9fe::1]
[2002:0a00:0001::] [2001:0:0:0:0:0:80ff:fffe] [2001::1] [2001:db8::1] [fe80::1] [febf::1] [fec0::1]
[fc00::1] [fd00:ec2::254] [fdff::1] [ff02::1] [ff0e::1] [100::1] [3fff::1] [5f00::1]
[0:0::0:1] [::0001] [0000::1]
[::ffff:0a00:1] [::ffff:c0a8:101] [::ffff:a9fe:a9fe] [::10.0.0.1] [::7f00:1]
[64:ff9b::c0a8:1] [2002:c0a8:101::1] [2001:10::1] [fe80:0:0:0:1::1]
[2a00:1450::5efe:7f00:1] [2a00:1450::200:5efe:10.0.0.1]
""")

# The same places behind names, encodings and other tricks of writing.
NAMES = {
    "localhost": ["127.0.0.1"],
    "localhost.localdomain": ["127.0.0.1"],
    "metadata.google.internal": ["169.254.169.254"],
    "intern.example": ["10.1.2.3"],
    "both.example": [PUBLIC, "127.0.0.1"],
    "both6.example": [PUBLIC, "::1"],
    "many.example": [PUBLIC, "93.184.216.35", "93.184.216.36", "192.168.7.7"],
    "mapped.example": ["::ffff:192.168.0.1"],
    "nat64.example": ["64:ff9b::a00:1"],
    "scoped.example": ["fe80::1%lo"],
}
TRICKS = _words("""
http://127.0.0.1:80/ http://127.0.0.1:443/ http://127.0.0.1:22/ http://127.0.0.1:6379/
http://LOCALHOST/ http://localhost./ http://127.0.0.1./ http://①②⑦.⓪.⓪.①/ http://１２７.０.０.１/
http://127。0。0。1/ http://public.example@127.0.0.1/ http://127.0.0.1@public.example/
http://public.example:80@127.0.0.1/ http://127.0.0.1:80\\@public.example/ http://127.0.0.1\\.public.example/
http:\\\\127.0.0.1/ http:///127.0.0.1/ http:/127.0.0.1/ //127.0.0.1/ ///127.0.0.1/ /\\127.0.0.1/
https://127.0.0.1/ HTTP://127.0.0.1/ http://127.0.0.1#@public.example/ http://127.0.0.1?@public.example/
http://public.example%2f@127.0.0.1/ http://%31%32%37.0.0.1/ http://[::1]:80/ http://[::1%25lo]/
http://[0:0:0:0:0:ffff:127.0.0.1]/ file:///etc/passwd gopher://127.0.0.1:6379/_INFO
dict://127.0.0.1:11211/stat
ftp://127.0.0.1/ ldap://127.0.0.1/ jar:http://127.0.0.1!/ data:text/html,x
javascript:alert(1) unix:/run/docker.sock http://127.0.0.1:65536/ http://127.0.0.1:00080/
http://intern.example/latest/meta-data/ http://both.example/ http://both6.example/
http://many.example/ http://mapped.example/ http://nat64.example/ http://scoped.example/
http://metadata.google.internal/computeMetadata/v1/ http://localhost.localdomain/
http://public.example:22/
""")
URLS = (TRICKS + [f"http://{form}/" for form in FORMS])[:60]


@dataclass
class Count:
    """What was tried, and what came of it."""

    tried: int = 0
    refused: int = 0
    brought: int = 0  # pages
    got_in: int = 0  # connections at the server that may not be asked


@contextmanager
def trap(names: dict[str, Sequence[str]] | None = None) -> Iterator[tuple[Web, Site]]:
    """A public site that redirects as its path says, and behind all else the one that counts."""
    with site(_redirecting) as public, site({"/": Reply(b"inside")}) as inside:
        known = {"public.example": [PUBLIC], **NAMES, **(names or {})}
        yield Web(known, {PUBLIC: public}, inside), inside


def _redirecting(asked: Asked) -> Reply:
    status, _, place = asked.path.removeprefix("/to/").partition("/")
    url = bytes.fromhex(place).decode()
    return Reply(status=int(status), headers={"Location": url.encode().decode("latin-1")})


def redirects(urls: Sequence[str], allowed: Allowed | None = None) -> Count:
    """Each address behind each kind of redirect of a public page, and given directly."""
    count = Count()
    with trap() as (web, inside):
        asker = fetcher(web, allowed=allowed or allowed_of([], []), timeout=5.0)
        for url in urls:
            for status in REDIRECTS:
                _try(asker, f"http://public.example/to/{status}/{url.encode().hex()}", count)
            _try(asker, url, count)
        count.got_in = inside.connections
    return count


def forms(allowed: Allowed | None = None) -> Count:
    """Every form of an address that may not be asked, directly."""
    count = Count()
    with trap() as (web, inside):
        asker = fetcher(web, allowed=allowed or allowed_of([], []), timeout=5.0)
        for form in FORMS:
            _try(asker, f"http://{form}/", count)
        count.got_in = inside.connections
    return count


def rebinding(times: int) -> Count:
    """A name that is public when it is asked for first, and this machine ever after."""
    count = Count()
    with trap() as (web, inside):
        for _ in range(times):
            asker = fetcher(web, resolve=_changing(), allowed=allowed_of([], []))
            back = b"http://public.example/to/302/00".hex()
            _try(asker, f"http://public.example/to/302/{back}", count)
        count.got_in = inside.connections
    return count


def _changing() -> Resolve:
    answers = iter([[PUBLIC], *[["127.0.0.1"]] * 9])
    return lambda *_: next(answers)


def _try(asker: HttpFetcher, url: str, count: Count) -> None:
    count.tried += 1
    try:
        get(asker, url)
        count.brought += 1
    except HoldfastError as error:
        count.refused += error.code == "fetch_refused"


# -- one reader of addresses: what was checked is what was connected to


@dataclass
class Agreement:
    """Over many odd addresses: how many were asked, and how often two hosts were seen in one."""

    tried: int = 0
    refused: int = 0
    asked: int = 0
    disagreed: int = 0


HOSTS = (
    "a.example",
    "b.example",
    "xn--bcher-kva.example",
    "bücher.example",
    "1.2.3.4",
    "[2a00::1]",
)
ODD = (
    *("@", "\\", "/", "//", "#", "?", ":", "%00", "%2f", "%40", "%5c", "\t", "\n", "\r", " ", "\0"),
    *(
        ".",
        "..",
        "。",
        "／",
        "＠",
        "﹫",
        "\u200b",
        "\u00ad",
        "ß",
        "İ",
        "[",
        "]",
        ";",
        "&",
        "=",
        "*",
    ),
    *("a.example", "b.example", ":80", ":443", ":@", "http://", "user:pw", "xn--", "%61"),
)


def odd_urls(count: int, seed: int = 5) -> Iterator[str]:
    """Addresses with something odd in one to three places."""
    draw = Random(seed)
    for _ in range(count):
        text = f"{draw.choice(('http', 'https', 'HTTP'))}://{draw.choice(HOSTS)}/p?q=1#f"
        text = text.replace("https", "http") if draw.random() < 0.9 else text
        for _ in range(draw.randrange(1, 4)):
            at = draw.randrange(4, len(text) + 1)
            text = text[:at] + draw.choice(ODD) + text[at + draw.randrange(2) :]
        yield text


def agreement(count: int) -> Agreement:
    """The server compares the host it is asked for with the one whose address was dialled."""
    found = Agreement()
    with site({}) as public:
        web = Web(elsewhere=public)
        asker = fetcher(web, resolve=_place_of(web), allowed=allowed_of([], []), timeout=5.0)
        for url in odd_urls(count):
            _compare(found, public, web, url, asker)
    return found


def _place_of(web: Web) -> Resolve:
    def resolve(host: str, _port: int) -> Sequence[str]:
        web.resolved.append(host)
        return [place_of(host)]

    return resolve


def place_of(host: str) -> str:
    """A public address for each name."""
    return str(IPv4Address((80 << 24) + int.from_bytes(sha256(host.encode()).digest()[:3])))


def _compare(found: Agreement, public: Site, web: Web, url: str, asker: HttpFetcher) -> None:
    found.tried += 1
    public.asked.clear()
    web.dialled.clear()
    try:
        get(asker, url)
    except HoldfastError as error:
        found.refused += error.code == "fetch_refused"
    for asked in public.asked:
        found.asked += 1
        host = re.sub(r":\d+$", "", asked.headers.get("host", "")).strip("[]")
        found.disagreed += place_of(host) != web.dialled[-1]
