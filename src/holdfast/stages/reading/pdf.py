"""How is a PDF read? Page by page; one of pictures only says so and is no empty success."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.domain.chunks import Segment
from holdfast.domain.errors import Permanent
from holdfast.ports import Source
from holdfast.stages.reading.extracting import Extracted, extracted
from holdfast.stages.reading.kinds import Kind, encrypted
from holdfast.stages.reading.ocr import Ocr, has_pictures, recognised_pages
from holdfast.stages.reading.parsed import PLAIN, Parsed

LEAST_LETTERS = 8  # fewer in a whole document are a stamp or a page number on scanned paper
WRONG_PASSWORD = 4  # FPDF_ERR_PASSWORD


def parse_pdf(source: Source, content: bytes, ocr: Ocr) -> Parsed:
    """The text of each page under its number."""
    found = _found(source, content)
    pages: Iterator[tuple[int, str]] = iter(found.pages)
    if letters(found) < LEAST_LETTERS:
        if not has_pictures(content):
            raise Permanent(f"{source.name} has only empty pages", code="no_text")
        pages = recognised_pages(source, content, ocr)
    return Parsed(Kind.PDF.value, _segments(pages), PLAIN, found.title)


def letters(found: Extracted) -> int:
    return sum(one.isalnum() for _, text in found.pages for one in text)


def _segments(pages: Iterator[tuple[int, str]]) -> Iterator[Segment]:
    for number, text in pages:
        lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "").strip()
        if lines:
            yield Segment(lines + "\n\n", number)


def _found(source: Source, content: bytes) -> Extracted:
    """As the first reader says; the second is asked when it fails."""
    try:
        return extracted(source, content, Kind.PDF.value)
    except Permanent as error:
        if error.code != "parser_failed":
            raise
        second = _by_pdfium(source, content)
        if second is None:
            raise
        return second


def _by_pdfium(source: Source, content: bytes) -> Extracted | None:
    import pypdfium2

    try:
        with pypdfium2.PdfDocument(content) as document:
            pages = [(n + 1, _text_of(document[n])) for n in range(len(document))]
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == WRONG_PASSWORD:
            raise encrypted(source) from error
        return None
    return Extracted("", None, tuple(pages))


def _text_of(page: object) -> str:
    return str(page.get_textpage().get_text_bounded())  # type: ignore[attr-defined]  # untyped library
