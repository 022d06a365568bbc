"""What a page says, and what is only around it."""

from __future__ import annotations

import pytest

from holdfast.stages.web.page import FROM_WEB, decoded, media_type_of_page, page_of

LONG = "Hold both buttons for five seconds until the lamp blinks, then let go of them again. " * 3
HTML = f"""<!DOCTYPE html><html><head><title>Reset | Pumps</title></head><body>
<nav><a href="/">Navigation words</a></nav><aside>Aside words</aside>
<article><h1>How to reset</h1><p>{LONG}</p><h2>Values</h2>
<table><tr><th>Name</th><th>Value</th></tr><tr><td>pressure</td><td>5 bar</td></tr></table>
<pre><code>pump --reset</code></pre></article><footer>Footer words</footer></body></html>"""


def test_main_content_comes_as_markdown_without_what_stands_around() -> None:
    page = page_of(HTML.encode(), FROM_WEB)

    assert page.title == "How to reset"
    for kept in ("# How to reset", LONG.strip(), "## Values", "pressure", "pump --reset"):
        assert kept in page.markdown
    for left in ("Navigation", "Aside", "Footer"):
        assert left not in page.markdown


@pytest.mark.parametrize("nothing", ["", "<", "<html></html>", "<!-- x", "\x00\x01"])
def test_a_page_without_content_has_none(nothing: str) -> None:
    assert page_of(nothing.encode(), FROM_WEB).markdown.strip() in ("", "<", "<!-- x")


@pytest.mark.parametrize(
    ("content", "says", "read"),
    [
        (b"<!DOCTYPE html><p>x", None, FROM_WEB),
        (b"<!-- a > b --> <html>", "text/plain", FROM_WEB),
        (b"<p>x</p>", "text/html", FROM_WEB),
        (b"%PDF-1.7 ...", "text/html", "text/html"),
        (b"%PDF-1.7 ...", "application/pdf", "application/pdf"),
        (b"just text", "text/plain", "text/plain"),
        (b"just text", None, None),
        (b'{"a": "<html>"}', "application/json", "application/json"),
    ],
)
def test_a_page_is_known_by_its_content(content: bytes, says: str | None, read: str | None) -> None:
    assert media_type_of_page(content, says, None) == read


def test_a_page_made_of_comments_takes_no_time() -> None:
    assert media_type_of_page(b"<!---->" * 300 + b"x", None, None) is None


@pytest.mark.parametrize(
    ("content", "charset", "text"),
    [
        ("中文".encode("gb18030"), "gbk", "中文"),
        ('<meta charset="big5">中文'.encode("big5"), None, '<meta charset="big5">中文'),
        ("\ufeffü".encode("utf-16-le"), "latin-1", "\ufeffü"[1:]),
        ("ü".encode(), "no-such-charset", "ü"),
        ("ü".encode(), "zip", "ü"),
        ("“ü”".encode("cp1252"), "iso-8859-1", "“ü”"),
        (b"\xff\xfe\xfa"[:1] + b"x", None, "ÿx"),
    ],
)
def test_text_is_decoded_as_server_page_or_bytes_say(
    content: bytes, charset: str | None, text: str
) -> None:
    assert decoded(content, charset) == text
