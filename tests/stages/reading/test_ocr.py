"""OCR: what a scan says when tesseract is there, and what it asks for when it is not."""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Sequence

import pypdfium2
import pytest

from holdfast.domain.errors import Permanent
from holdfast.ports import Source
from holdfast.stages.reading import ocr
from holdfast.stages.reading.ocr import Ocr
from holdfast.stages.reading.parse import parse
from holdfast.stages.reading.parsed import Parsed
from holdfast.testing.printed import assembled, stream

LINES = ("The indigo valve of the boiler", "is opened by turning the wheel")
PAGE = (
    b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 200] /Contents 4 0 R /Resources << %s >> >>"
)
HEAD = [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>"]
FONT = b"/Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>"


def printed(lines: Sequence[str]) -> bytes:
    shown = b" T* ".join(b"(" + line.encode() + b") Tj" for line in lines)
    return assembled(
        [*HEAD, PAGE % FONT, stream(b"BT /F1 14 Tf 20 TL 30 150 Td " + shown + b" ET")]
    )


def scanned(lines: Sequence[str]) -> bytes:
    """A PDF of one picture: that of a printed page."""
    with pypdfium2.PdfDocument(printed(lines)) as document:
        head, _, dots = ocr.drawn(document[0]).partition(b" 255\n")
    width, height = head.split()[1:]
    packed = zlib.compress(dots)
    about = b"<< /Type /XObject /Subtype /Image /Width %s /Height %s /ColorSpace /DeviceGray" % (
        width,
        height,
    )
    picture = b"%s /BitsPerComponent 8 /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream"
    drawing = stream(b"400 0 0 200 0 0 cm /I Do")
    resources = b"/XObject << /I 5 0 R >>"
    return assembled([*HEAD, PAGE % resources, drawing, picture % (about, len(packed), packed)])


def read(content: bytes, languages: str) -> Parsed:
    return parse(Source("scan.pdf", "hash", len(content), content), Ocr(languages))


def refusal(languages: str) -> Permanent:
    with pytest.raises(Permanent) as caught:
        read(scanned(LINES), languages)
    assert caught.value.code == "needs_ocr"
    return caught.value


def test_a_scan_asks_for_languages_when_nobody_named_any() -> None:
    assert "ocr_languages" in refusal("").advice


def test_a_scan_asks_for_tesseract_where_it_is_not_installed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ocr, "is_installed", lambda: False)

    assert "install tesseract" in refusal("eng").advice


def test_a_scan_asks_for_the_language_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "is_installed", lambda: True)
    monkeypatch.setattr(ocr, "missing_language", lambda _: "xyz")

    assert "lacks xyz" in str(refusal("eng+xyz"))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not installed here")
def test_tesseract_reads_a_scan_page_by_page() -> None:
    (page,) = read(scanned(LINES), "eng").segments

    assert page.page == 1
    assert page.text.split() == " ".join(LINES).split()
