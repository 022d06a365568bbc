"""How is text in a picture found? By tesseract, where it is installed and languages are named."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.domain.errors import Permanent
from holdfast.machine.tesseract import is_installed, missing_language, recognised
from holdfast.ports import Source

DOTS = 300 / 72  # points to dots: what tesseract was trained on
MOST_DOTS = 40_000_000  # of one page; a poster is drawn smaller
SET_LANGUAGES = (
    "name the languages of your scans in ocr_languages (for example eng+chi_sim) with tesseract "
    "installed, or configure a processor with OCR for this base, then re-index the item"
)


@dataclass(frozen=True, slots=True)
class Ocr:
    """The languages that were asked for, as tesseract names them; empty when nobody asked."""

    languages: str = ""


def recognised_pages(source: Source, content: bytes, ocr: Ocr) -> Iterator[tuple[int, str]]:
    """The pages of a PDF, looked at one by one."""
    must_be_able(source, ocr)
    return _drawn_and_read(content, ocr)


def recognised_image(source: Source, content: bytes, ocr: Ocr) -> str:
    must_be_able(source, ocr)
    text = recognised(content, ocr.languages)
    if not text.strip():
        raise Permanent(f"no text was recognised in {source.name}", code="no_text")
    return text


def has_pictures(content: bytes) -> bool:
    """Is anything drawn on a page of this PDF? When nobody can tell, something is."""
    import pypdfium2

    try:
        with pypdfium2.PdfDocument(content) as document:
            return any(next(iter(page.get_objects()), None) is not None for page in document)
    except pypdfium2.PdfiumError:
        return True


def must_be_able(source: Source, ocr: Ocr) -> None:
    """Permanent(`needs_ocr`) that says what is missing."""
    said = f"{source.name} holds pictures of text"
    if not ocr.languages:
        raise Permanent(said, code="needs_ocr", advice=SET_LANGUAGES)
    if not is_installed():
        raise Permanent(
            f"{said}, and tesseract is not installed",
            code="needs_ocr",
            advice="install tesseract-ocr and its languages, then re-index the item",
        )
    if missing := missing_language(ocr.languages):
        raise Permanent(
            f"{said}, and tesseract lacks {missing} of ocr_languages",
            code="needs_ocr",
            advice=f"install the language data for {missing}, then re-index the item",
        )


def _drawn_and_read(content: bytes, ocr: Ocr) -> Iterator[tuple[int, str]]:
    import pypdfium2

    with pypdfium2.PdfDocument(content) as document:
        for number in range(len(document)):
            yield number + 1, recognised(drawn(document[number]), ocr.languages)


def drawn(page: object) -> bytes:
    """The page as a grey picture in the plainest format there is (PGM)."""
    width, height = page.get_size()  # type: ignore[attr-defined]  # untyped library
    scale = min(DOTS, (MOST_DOTS / max(1.0, width * height)) ** 0.5)
    bitmap = page.render(scale=scale, grayscale=True)  # type: ignore[attr-defined]  # the same
    whole = bytes(bitmap.buffer)
    rows = (
        whole[n * bitmap.stride : n * bitmap.stride + bitmap.width] for n in range(bitmap.height)
    )
    return b"P5 %d %d 255\n" % (bitmap.width, bitmap.height) + b"".join(rows)
