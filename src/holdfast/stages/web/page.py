"""What does a page of the web say? Its title and main content, not what stands around it."""

from __future__ import annotations

import codecs
import logging
import re
from dataclasses import dataclass

HEAD = 2_048
LEAST = 200  # characters; a page with less main content than this is read as a whole
LONGEST_TITLE = 300
FROM_WEB = "text/html;from=web"
HTML_TYPES = frozenset({"text/html", "application/xhtml+xml"})
OPENING = re.compile(  # nothing in it is tried twice: a page may be made of comments
    rb"(?>\s*(?:<\?xml.*?>|<!--.*?-->))*+\s*<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
DECLARED = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([a-zA-Z0-9_:.-]{2,40})", re.IGNORECASE)
UTF8 = codecs.BOM_UTF8
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# As browsers read them: what calls itself by the first is often the second.
MEANT = {"gb2312": "gb18030", "gbk": "gb18030", "iso-8859-1": "cp1252", "latin-1": "cp1252"}


@dataclass(frozen=True, slots=True)
class WebPage:
    """What is worth finding in a page."""

    title: str | None
    markdown: str


def media_type_of_page(content: bytes, media_type: str | None, charset: str | None) -> str | None:
    """What the bytes are to be read as; a page by what it is, other types as the server says."""
    start = content[:HEAD].removeprefix(UTF8)
    says_page = media_type in HTML_TYPES and b"<" in start and not start.startswith(b"%PDF-")
    if not says_page and not OPENING.match(start):
        return media_type
    return f"{FROM_WEB};charset={charset}" if charset else FROM_WEB


def page_of(content: bytes, media_type: str) -> WebPage:
    """Title and main content; little or no content when the page has little or none."""
    import trafilatura

    for name in ("trafilatura", "htmldate", "justext", "courlan"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # text of documents stays out of logs
    html = decoded(content, media_type.partition("charset=")[2] or None)
    tree = trafilatura.load_html(html)
    if tree is None:
        return WebPage(None, "")
    title = _title(tree)
    markdown = trafilatura.extract(
        tree,
        output_format="markdown",
        include_comments=False,
        include_formatting=True,
        include_tables=True,
        with_metadata=False,
    )
    return WebPage(title, str(markdown or ""))


def decoded(content: bytes, charset: str | None) -> str:
    """By its mark, by what the server says, by what the page says, or as UTF-8."""
    for mark, encoding in MARKS:
        if content.startswith(mark):
            return content.decode(encoding, "replace")
    found = DECLARED.search(content[:HEAD])
    for name in (charset, found[1].decode("ascii") if found else None, "utf-8"):
        text = _strictly(content, name)
        if text is not None:
            return text
    return content.decode(_known(charset) or "cp1252", "replace")


def _strictly(content: bytes, name: str | None) -> str | None:
    encoding = _known(name)
    try:
        return content.decode(encoding) if encoding else None
    except UnicodeDecodeError:
        return None


def _known(name: str | None) -> str | None:
    if not name:
        return None
    try:
        found = codecs.lookup(MEANT.get(name.lower(), name))
    except (LookupError, ValueError):
        return None
    return found.name if found._is_text_encoding else None  # noqa: SLF001  (`zip` is a codec too)


def _title(tree: object) -> str | None:
    from trafilatura import extract_metadata

    found = extract_metadata(tree, extensive=False)
    title = " ".join((getattr(found, "title", None) or "").split())
    return title[:LONGEST_TITLE] or None
