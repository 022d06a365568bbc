"""How does a document of any kind become text? By its kind, each kind by its own reader.

Everything here but text is parsed by code that a document can crash: it runs in a child.
"""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.domain.chunks import Segment
from holdfast.ports import Source
from holdfast.stages.reading.archives import must_be_harmless
from holdfast.stages.reading.extracting import extracted
from holdfast.stages.reading.kinds import PACKED, PLAIN_TEXT, Kind, kind_of
from holdfast.stages.reading.mail import parse_mail
from holdfast.stages.reading.ocr import Ocr, recognised_image
from holdfast.stages.reading.parsed import MARKDOWN, PLAIN, Parsed
from holdfast.stages.reading.pdf import parse_pdf
from holdfast.stages.reading.plain import content_of, opened, parse_plain
from holdfast.stages.web.page import LEAST, page_of

WITH_PAGES = frozenset({Kind.PPTX, Kind.PPT})
NO_OCR = Ocr()


def parse(source: Source, ocr: Ocr = NO_OCR) -> Parsed:
    """The document as text; Permanent with code and advice when it has none or none can be got.

    Text comes as a stream in bounded memory. Headings are Markdown headings, pages are pages.
    """
    with opened(source) as file:
        kind = kind_of(source, file)
        if kind in PACKED:
            must_be_harmless(source, file)
    if kind in PLAIN_TEXT:
        return parse_plain(source, kind)
    content = content_of(source)
    if kind is Kind.MAIL:
        return parse_mail(content)
    if kind is Kind.PDF:
        return parse_pdf(source, content, ocr)
    if kind is Kind.HTML:
        return parse_html(source, content)
    if kind is Kind.IMAGE:
        return _parse_image(source, content, ocr)
    return _parse_office(source, content, kind)


def parse_html(source: Source, content: bytes) -> Parsed:
    """The main content; the whole page when there is little of it."""
    page = page_of(content, source.media_type or Kind.HTML.value)
    if len(page.markdown) >= LEAST:
        return Parsed(Kind.HTML.value, _whole(page.markdown), MARKDOWN, page.title)
    all_of_it = extracted(source, _as_utf8(content, source), Kind.HTML.value)
    text = max(page.markdown, _without_head(all_of_it.content), key=len)
    return Parsed(Kind.HTML.value, _whole(text), MARKDOWN, page.title or all_of_it.title)


def _parse_office(source: Source, content: bytes, kind: Kind) -> Parsed:
    found = extracted(source, content, kind.value)
    if kind in WITH_PAGES and found.pages:
        slides = (Segment(text.rstrip() + "\n\n", number) for number, text in found.pages)
        return Parsed(kind.value, slides, MARKDOWN, found.title)
    return Parsed(kind.value, _whole(found.content), MARKDOWN, found.title)


def _parse_image(source: Source, content: bytes, ocr: Ocr) -> Parsed:
    return Parsed(Kind.IMAGE.value, _whole(recognised_image(source, content, ocr)), PLAIN)


def _whole(text: str) -> Iterator[Segment]:
    clean = text.replace("\r\n", "\n").replace("\x00", "")
    if clean.strip():
        yield Segment(clean)


def _as_utf8(content: bytes, source: Source) -> bytes:
    """The library takes other encodings for damage."""
    from holdfast.stages.web.page import decoded

    charset = (source.media_type or "").partition("charset=")[2] or None
    return decoded(content, charset).encode("utf-8", "replace")


def _without_head(markdown: str) -> str:
    """It puts what it knows of a page in front of it, between two rules."""
    if not markdown.startswith("---\n"):
        return markdown
    lines = markdown.split("\n")
    start = next((n for n, line in enumerate(lines) if line.startswith("# ")), len(lines))
    return "\n".join(lines[start:]) if start < len(lines) else markdown
