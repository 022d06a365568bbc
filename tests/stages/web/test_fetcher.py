"""What the fetcher brings, what it refuses, and when it gives up; against real servers."""

from __future__ import annotations

import gzip
import socket
import ssl
import subprocess
import time
import zlib
from pathlib import Path
from shutil import which

import pytest

from holdfast.domain.errors import Permanent, Transient
from holdfast.ports import Wanted
from holdfast.stages.web import lines
from holdfast.stages.web.deadline import Deadline
from holdfast.stages.web.networks import allowed_of
from tests.stages.web.servers import OTHER, PUBLIC, Reply, Web, drip, fetcher, get, site

PAGE = Reply(
    b"<p>hello",
    headers={"Content-Type": "text/html; charset=UTF-8", "ETag": '"a"', "Last-Modified": "today"},
)


def test_a_page_comes_with_what_the_server_says_of_it() -> None:
    with site({"/p?q=1": PAGE}) as there:
        web = Web({"site.example": [PUBLIC]}, {PUBLIC: there})

        fetched = get(fetcher(web), "http://Site.Example/p?q=1#part")

    assert fetched.content == b"<p>hello"
    assert (fetched.url, fetched.media_type, fetched.charset) == (
        "http://site.example/p?q=1",
        "text/html",
        "utf-8",
    )
    assert (fetched.etag, fetched.last_modified) == ('"a"', "today")
    assert there.asked[0].headers["host"] == "site.example"


def test_what_is_here_already_is_not_sent_again() -> None:
    with site(lambda asked: Reply(status=304 if asked.headers.get("if-none-match") else 200)) as s:
        web = Web({"site.example": [PUBLIC]}, {PUBLIC: s})

        fetched = get(fetcher(web), "http://site.example/", etag='"a"', last_modified="today")

    assert fetched.content is None
    assert s.asked[0].headers["if-modified-since"] == "today"


def test_five_redirects_are_followed_and_each_host_is_resolved_once() -> None:
    def next_hop(asked: object) -> Reply:
        number = int(getattr(asked, "path", "/")[1:])
        return Reply(status=302, headers={"Location": f"/{number - 1}"}) if number else PAGE

    with site(next_hop) as there:
        web = Web({"site.example": [PUBLIC]}, {PUBLIC: there})

        assert get(fetcher(web), "http://site.example/5").content == b"<p>hello"
        assert web.resolved == ["site.example"] * 6
        with pytest.raises(Permanent, match="more than 5 redirects"):
            get(fetcher(web), "http://site.example/6")


def test_a_redirect_is_followed_to_another_site() -> None:
    leads = Reply(status=301, headers={"Location": "//b.example/x"})
    with site({"/": leads}) as a, site({"/x": PAGE}) as b:
        web = Web({"a.example": [PUBLIC], "b.example": [OTHER]}, {PUBLIC: a, OTHER: b})

        assert get(fetcher(web), "http://a.example/").url == "http://b.example/x"


@pytest.mark.parametrize("status", [404, 410, 401, 403, 400, 418, 302])
def test_what_will_not_change_is_not_asked_for_again(status: int) -> None:
    with site({"/": Reply(status=status)}) as there:
        web = Web({"site.example": [PUBLIC]}, {PUBLIC: there})

        with pytest.raises(Permanent, match=str(status)) as caught:
            get(fetcher(web), "http://site.example/")

    assert caught.value.code == "fetch_failed"


@pytest.mark.parametrize("status", [429, 408, 500, 502, 503])
def test_what_may_pass_is_asked_for_again_when_the_server_says(status: int) -> None:
    with site({"/": Reply(status=status, headers={"Retry-After": "7"})}) as there:
        web = Web({"site.example": [PUBLIC]}, {PUBLIC: there})

        with pytest.raises(Transient) as caught:
            get(fetcher(web), "http://site.example/")

    assert (caught.value.code, caught.value.retry_after) == ("fetch_failed", 7.0)


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "raw deflate"])
def test_packed_pages_are_unpacked(encoding: str) -> None:
    text = b"words and words " * 20_000
    packed = {
        "gzip": gzip.compress(text[:9]) + gzip.compress(text[9:]),
        "deflate": zlib.compress(text),
        "raw deflate": zlib.compress(text)[2:-4],
    }[encoding]
    headers = {"Content-Encoding": encoding.rpartition(" ")[2]}
    with site({"/": Reply(packed, headers=headers)}) as there:
        web = Web({"site.example": [PUBLIC]}, {PUBLIC: there})

        assert get(fetcher(web), "http://site.example/").content == text


def test_a_bomb_is_dropped_while_it_is_unpacked() -> None:
    bomb = gzip.compress(bytes(64 << 20))
    with site({"/": Reply(bomb, headers={"Content-Encoding": "gzip"})}) as there:
        web = Web({"site.example": [PUBLIC]}, {PUBLIC: there})

        with pytest.raises(Permanent, match="fetch_max_bytes") as caught:
            get(fetcher(web), "http://site.example/")

    assert caught.value.code == "too_large"


def test_an_endless_page_ends_at_the_limit() -> None:
    with site(lambda _: Reply(pieces=lambda: drip(bytes(65_536), 0.0))) as there:
        web = Web({"site.example": [PUBLIC]}, {PUBLIC: there})

        with pytest.raises(Permanent, match="fetch_max_bytes"):
            get(fetcher(web), "http://site.example/")


def test_one_deadline_holds_over_all_of_it() -> None:
    with site(lambda _: Reply(pieces=lambda: drip(b"x", 0.02))) as there:
        web = Web({"site.example": [PUBLIC]}, {PUBLIC: there})

        with pytest.raises(Transient, match="in time"):
            get(fetcher(web, timeout=0.3), "http://site.example/")


def test_a_resolver_that_hangs_ends_with_the_deadline() -> None:
    def hanging(_host: str, _port: int) -> list[str]:
        time.sleep(0.5)
        return []

    with pytest.raises(Transient, match="in time"):
        get(fetcher(Web(), timeout=0.2, resolve=hanging), "http://site.example/")


def test_a_fetch_nobody_wants_any_more_ends_at_once() -> None:
    class Enough(Exception):
        pass

    def check() -> None:
        if there.asked:
            raise Enough

    with site(lambda _: Reply(pieces=lambda: drip(b"x", 0.5))) as there:
        web = Web({"site.example": [PUBLIC]}, {PUBLIC: there})

        with pytest.raises(Enough):
            fetcher(web).fetch(Wanted("http://site.example/"), check)


def test_a_page_that_is_cut_short_is_asked_for_again() -> None:
    with site({"/": Reply(b"half", headers={"Content-Length": "9"})}) as there:
        web = Web({"site.example": [PUBLIC]}, {PUBLIC: there})

        with pytest.raises(Transient, match="broke off"):
            get(fetcher(web), "http://site.example/")


def test_an_unknown_host_may_be_known_later() -> None:
    with pytest.raises(Transient, match=r"nowhere.example is not known"):
        get(fetcher(Web()), "http://nowhere.example/")


def test_proxies_of_the_environment_are_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    with site({"/": PAGE}) as there, site({}) as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        web = Web({"site.example": [PUBLIC]}, {PUBLIC: there})

        get(fetcher(web), "http://site.example/")

        assert (proxy.connections, there.connections) == (0, 1)


def test_a_connection_that_leads_elsewhere_is_dropped_before_a_word_is_said() -> None:
    with site({"/": PAGE}) as there:
        web = Web({"site.example": [PUBLIC]}, {PUBLIC: there})
        astray = fetcher(web, dial=lambda _a, port, line: web.dial(PUBLIC, port, line))
        web.names["site.example"] = [OTHER]

        with pytest.raises(Permanent, match="led to") as caught:
            get(astray, "http://site.example/")

    assert caught.value.code == "fetch_refused"
    assert not there.asked


def test_the_second_address_is_tried_when_the_first_does_not_answer() -> None:
    with site({"/": PAGE}) as there:
        web = Web({"site.example": [OTHER, PUBLIC]}, {PUBLIC: there})

        assert get(fetcher(web), "http://site.example/").content == b"<p>hello"


def test_an_address_that_swallows_everything_leaves_time_for_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lines, "CONNECT", 0.05)
    with site({"/": PAGE}) as there:
        web = Web({"site.example": [OTHER, PUBLIC]}, {PUBLIC: there})

        def dial(address: str, port: int, deadline: Deadline) -> socket.socket:
            while address == OTHER:
                time.sleep(deadline.slice())
            return web.dial(address, port, deadline)

        assert get(fetcher(web, dial=dial), "http://site.example/").content == b"<p>hello"


@pytest.mark.parametrize("place", ["127.0.0.1", "127.0.0.0/8", "intern.example", "INTERN.example."])
def test_what_the_installation_allows_may_be_asked(place: str) -> None:
    with site({"/": PAGE}) as there:
        web = Web({"intern.example": ["127.0.0.1"]}, elsewhere=there)
        allowed = allowed_of([8080], [place])

        page = get(fetcher(web, allowed=allowed), "http://intern.example:8080/")

        assert page.content == b"<p>hello"
        assert there.asked[0].headers["host"] == "intern.example:8080"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for secure.example that signs itself."""
    if which("openssl") is None:
        pytest.skip("needs openssl to make a certificate")
    made = tmp_path_factory.mktemp("tls") / "both.pem"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=secure.example", "-addext", "subjectAltName=DNS:secure.example"),
            *("-keyout", str(made), "-out", str(made.with_name("cert.pem"))),
        ],
        check=True,
        capture_output=True,
    )
    made.write_text(made.read_text() + made.with_name("cert.pem").read_text())
    return made


@pytest.mark.parametrize("name", ["secure.example", "other.example"])
def test_the_certificate_is_the_named_host_s(certificate: Path, name: str) -> None:
    trusted = ssl.create_default_context(cafile=str(certificate.with_name("cert.pem")))
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(str(certificate))
    with site({"/": PAGE}) as there:
        there.secure(server)
        web = Web({name: [PUBLIC]}, {PUBLIC: there})
        asker = fetcher(web, trusted=lambda: trusted)

        if name == "secure.example":
            assert get(asker, f"https://{name}/").content == b"<p>hello"
        else:
            with pytest.raises(Permanent, match="certificate"):
                get(asker, f"https://{name}/")
            assert not there.asked
