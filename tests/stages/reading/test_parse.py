"""Reading: what a document of each kind becomes, told by its bytes and not by its name."""

from __future__ import annotations

import os

import pytest

from holdfast.domain.errors import Permanent
from holdfast.ports import Source
from holdfast.stages.reading import archives
from holdfast.stages.reading.ocr import Ocr
from holdfast.stages.reading.parse import parse
from holdfast.stages.reading.parsed import Parsed
from holdfast.testing.office import docx, zipped
from holdfast.testing.printed import pdf
from holdfast.testing.samples import Sample, all_samples, html
from holdfast.testing.wording import CHINESE, sentences

TYPES = ("[Content_Types].xml", "<Types/>")


def read(name: str, content: bytes, media_type: str | None = None, ocr: str = "") -> Parsed:
    source = Source(name, "hash", len(content), content, media_type=media_type)
    return parse(source, Ocr(ocr))


def text_of(name: str, content: bytes, media_type: str | None = None, ocr: str = "") -> str:
    return "".join(one.text for one in read(name, content, media_type, ocr).segments)


def refusal(name: str, content: bytes) -> tuple[str, str]:
    with pytest.raises(Permanent) as caught:
        text_of(name, content)
    assert name in str(caught.value)
    assert caught.value.advice
    return caught.value.code, str(caught.value)


@pytest.mark.parametrize("sample", all_samples(), ids=lambda sample: sample.kind)
def test_a_phrase_from_the_middle_is_read_on_its_page_below_its_heading(sample: Sample) -> None:
    segments = list(read(sample.name, sample.content).segments)
    whole = "".join(one.text for one in segments)
    before = whole.partition(sample.phrase)[0]

    assert sample.phrase in whole
    assert [one.page for one in segments if sample.phrase in one.text] == [sample.page]
    if sample.heading:
        last = [line for line in before.splitlines() if line.startswith("#")][-1]
        assert last.lstrip("# ") == sample.heading


@pytest.mark.parametrize("sample", all_samples(), ids=lambda sample: sample.kind)
def test_a_wrong_name_changes_nothing_for_what_its_bytes_tell(sample: Sample) -> None:
    assert sample.phrase in text_of("something.txt", sample.content)


def test_the_title_of_a_page_of_a_book_and_of_a_letter_is_its_own() -> None:
    titles = {one.name: read(one.name, one.content).title for one in all_samples()}

    assert titles["guide.html"] == "Guide"
    assert titles["book.epub"] == "The book of valves"
    assert titles["mail.eml"] == "阀门检修"


def test_a_slide_ends_with_its_last_word() -> None:
    (slides,) = [one for one in all_samples() if one.kind == "PPTX"]

    texts = [one.text.strip() for one in read(slides.name, slides.content).segments]

    assert all(text.startswith("## Chapter") and text.endswith("twice.") for text in texts)
    assert len(texts) == 3


def test_what_stands_around_a_page_is_not_read() -> None:
    text = text_of("a.html", html().encode())

    assert not any(word in text for word in ("Shop", "Imprint", "alert", "color"))


def test_a_short_page_is_read_whole() -> None:
    assert "Closed on Monday" in text_of("a.html", b"<body><div>Closed on Monday</div></body>")


@pytest.mark.parametrize("encoding", ["utf-8", "gb18030", "big5", "utf-16"])
def test_a_page_is_read_in_the_encoding_it_names(encoding: str) -> None:
    page = f"<html><head><meta charset={encoding}></head><body><p>鍋爐</p></body></html>"

    assert "鍋爐" in text_of("a.html", page.encode(encoding))


def test_a_scan_needs_ocr_and_an_empty_pdf_has_no_text() -> None:
    assert refusal("scan.pdf", pdf(["", ""], image_only=True))[0] == "needs_ocr"
    assert refusal("photo.png", b"\x89PNG\r\n\x1a\n" + bytes(100))[0] == "needs_ocr"
    assert refusal("blank.pdf", pdf([""]))[0] == "no_text"


def test_a_second_reader_is_asked_when_the_first_cannot_read_a_pdf(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuses(source: Source, *_: object) -> None:
        raise Permanent(f"{source.name} is odd", code="parser_failed")

    monkeypatch.setattr("holdfast.stages.reading.pdf.extracted", refuses)

    (first, second) = read("a.pdf", pdf(["One valve.", "Two valves."])).segments
    assert (first.page, second.page) == (1, 2)
    assert "Two valves" in second.text


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("a.zip", zipped([("a.txt", "text")]), "unsupported"),
        ("a.txt.gz", b"\x1f\x8b\x08" + bytes(50), "unsupported"),
        ("a.exe", b"MZ" + bytes(200), "unsupported"),
        ("a.txt", bytes(range(256)) * 4, "unsupported"),
        ("a.docx", docx()[:900], "parser_failed"),
        ("a.pdf", b"%PDF-1.7 and nothing else", "parser_failed"),
        ("a.doc", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "parser_failed"),
        (
            "a.xlsx",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
            "unsupported",
        ),
    ],
)
def test_what_cannot_be_read_says_why(name: str, content: bytes, code: str) -> None:
    assert refusal(name, content)[0] == code


def test_a_reader_s_refusal_is_told_in_words_and_once() -> None:
    _, said = refusal("a.pdf", b"%PDF-1.7 and nothing else")

    assert said == "a.pdf could not be read: Invalid PDF"


def test_a_packed_bomb_is_refused_while_it_is_counted() -> None:
    bomb = zipped([TYPES, ("word/document.xml", bytes(100 << 20))])

    code, said = refusal("bomb.docx", bomb)

    assert code == "parser_failed"
    assert "200-fold" in said


def test_an_archive_with_too_much_in_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_BYTES", 1 << 20)
    noise = zipped([TYPES, ("word/document.xml", os.urandom(1 << 20)), ("word/b", b"x")])
    many = zipped([TYPES, *((f"word/{number}", "") for number in range(10_001))])

    assert "1 MiB" in refusal("large.docx", noise)[1]
    assert "entries" in refusal("many.docx", many)[1]


def test_an_archive_in_an_archive_is_refused() -> None:
    nested = zipped([TYPES, ("word/document.xml", "<a/>"), ("word/more.zip", "PK")])

    assert "more.zip" in refusal("nested.docx", nested)[1]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_xml_that_declares_entities_is_refused(encoding: str) -> None:
    laughs = '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;">]><a>&c;</a>'
    content = zipped([TYPES, ("word/document.xml", laughs.encode(encoding))])

    assert "entities" in refusal("laughs.docx", content)[1]


def test_a_letter_with_broken_heads_can_still_be_read() -> None:
    letter = (
        b"From: <<<@>>\r\nTo: \xff\xfe\r\nDate: never\r\nSubject: =?x?q?a?=\r\n\r\nThe lamp hums."
    )

    assert "The lamp hums." in text_of("a.eml", letter)


def test_a_letter_of_html_only_is_read_as_a_page() -> None:
    page = (
        "<html><body>" + "".join(f"<p>{one}</p>" for one in sentences(CHINESE)) + "</body></html>"
    )
    head = b"From: a@b.c\r\nSubject: s\r\nContent-Type: text/html; charset=gbk\r\n\r\n"

    assert sentences(CHINESE)[4] in text_of("a.eml", head + page.encode("gbk"))
