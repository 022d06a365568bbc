"""An address is read in one way, or it is refused."""

from __future__ import annotations

import pytest

from holdfast.domain.addresses import address_of, followed, is_web
from holdfast.domain.errors import HoldfastError, InvalidInput, Permanent


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("HTTP://Site.Example", "http://site.example/"),
        ("https://site.example:443/a?b=c#d", "https://site.example/a?b=c"),
        ("http://site.example:8080", "http://site.example:8080/"),
        ("http://site.example:/?q", "http://site.example/?q"),
        ("http://site.example?q", "http://site.example/?q"),
        ("http://bücher.example/ü", "http://xn--bcher-kva.example/%C3%BC"),
        ("https://zh.example/维基", "https://zh.example/%E7%BB%B4%E5%9F%BA"),
        ("http://site.example./%41", "http://site.example/%41"),
        ("http://[2A00:0:0::1]/", "http://[2a00::1]/"),
        ("http://１２７.0.0.1/", "http://127.0.0.1/"),
    ],
)
def test_one_address_has_one_form(given: str, read: str) -> None:
    assert str(address_of(given)) == read
    assert str(address_of(read)) == read


@pytest.mark.parametrize(
    "given",
    [
        *(
            "",
            "http://",
            "http:///path",
            "http://a b/",
            "http://a\tb/",
            "http://a\\b/",
            "http://a/\x00",
        ),
        *("http://a.example:99999/", "http://a.example:x/", "http://[::1", "http://[::1%25lo]/"),
        *("http://-a.example/", "http://a..example/", "http://%61.example/", "http://a\u3000b/"),
        *("http://a.example/ ", " http://a.example/", "http://a\ud800/", "http://a\u0085b/"),
        "http://" + "a" * 300 + "/",
        "http://a.example/" + "a" * 5_000,
    ],
)
def test_what_may_be_read_in_two_ways_is_no_address(given: str) -> None:
    with pytest.raises(InvalidInput):
        address_of(given)


@pytest.mark.parametrize(
    "given", ["ftp://a.example/", "file:///etc/passwd", "a.example", "http://me@a.example/"]
)
def test_other_kinds_of_addresses_are_refused(given: str) -> None:
    with pytest.raises(Permanent) as caught:
        address_of(given)

    assert caught.value.code == "fetch_refused"


def test_a_password_is_not_repeated() -> None:
    with pytest.raises(HoldfastError) as caught:
        address_of("http://me:secret@a.example/")

    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("location", "leads"),
    [
        ("/x", "http://a.example/x"),
        ("x", "http://a.example/dir/x"),
        ("../x?y", "http://a.example/x?y"),
        ("//b.example", "http://b.example/"),
        ("https://b.example/x#y", "https://b.example/x"),
    ],
)
def test_a_redirect_is_read_from_where_it_stands(location: str, leads: str) -> None:
    assert str(followed(address_of("http://a.example/dir/page"), location)) == leads


@pytest.mark.parametrize("location", ["ftp://b/", "http://[", "http://a\\b", "\thttp://b.example/"])
def test_a_redirect_that_cannot_be_read_is_refused(location: str) -> None:
    with pytest.raises(Permanent) as caught:
        followed(address_of("http://a.example/"), location)

    assert caught.value.code == "fetch_refused"


def test_a_web_address_is_known_by_its_beginning() -> None:
    assert is_web("HTTPS://a.example")
    assert not is_web("httpd.conf")
