"""What does a small real document of each kind look like? Written by code, byte for byte known.

Each sample says which phrase stands in its middle, and on which page or below which heading.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import EmailMessage
from email.policy import SMTP

from holdfast.testing.office import docx, epub, odt, pptx, xlsx
from holdfast.testing.printed import pdf
from holdfast.testing.wording import (
    CHINESE,
    COLOURS,
    ENGLISH,
    HEADING,
    JAPANESE,
    WESTERN,
    chapters,
    middle,
    of,
    sentences,
    texts,
)


@dataclass(frozen=True, slots=True)
class Sample:
    """A document, a phrase from its middle, and where a citation of it must point."""

    kind: str
    name: str
    content: bytes
    phrase: str
    page: int | None = None
    heading: str | None = None


def all_samples() -> list[Sample]:
    """One of each kind."""
    return [*encoded(), *marked(), *packed(), *coded()]


# ------------------------------------------------------------------------------ text by encoding


def encoded() -> Iterator[Sample]:
    yield _text("plain text", "plain.txt", ENGLISH, "utf-8")
    yield _text("UTF-8 with a mark", "marked.txt", ENGLISH, "utf-8-sig")
    yield _text("GB18030", "gb18030.txt", CHINESE, "gb18030")
    yield _text("Big5", "big5.txt", CHINESE.translate(TRADITIONAL), "big5")
    yield _text("Shift-JIS", "shift-jis.txt", JAPANESE, "shift_jis")
    yield _text("UTF-16", "utf-16.txt", CHINESE, "utf-16")
    yield _text("UTF-16 without a mark", "utf-16-be.txt", ENGLISH, "utf-16-be")
    yield _text("Latin-1", "latin-1.txt", WESTERN, "latin-1")


TRADITIONAL = str.maketrans("号锅炉阀门黄铜轮转两圈开", "號鍋爐閥門黃銅輪轉兩圈開")


def _text(kind: str, name: str, pattern: str, encoding: str) -> Sample:
    text, phrase = texts(of(name.partition(".")[0], pattern))
    return Sample(kind, name, text.encode(encoding), phrase)


# ------------------------------------------------------------------------------- marked-up text


def marked() -> Iterator[Sample]:
    words = {kind: of(kind) for kind in ("md", "html", "rtf", "csv", "json")}
    phrase = {kind: middle(pattern) for kind, pattern in words.items()}
    text = markdown(words["md"]).encode()
    yield Sample("Markdown", "guide.md", text, phrase["md"], None, HEADING)
    page = html(words["html"]).encode()
    yield Sample("HTML", "guide.html", page, phrase["html"], None, HEADING)
    yield Sample("RTF", "guide.rtf", rtf(words["rtf"]), phrase["rtf"])
    yield Sample("CSV", "parts.csv", csv(words["csv"]).encode(), phrase["csv"])
    values = json.dumps(sentences(words["json"]), indent=1)
    yield Sample("JSON", "parts.json", values.encode(), phrase["json"])
    letter = of("eml", CHINESE)
    yield Sample("EML", "mail.eml", eml(letter), middle(letter), None, "阀门检修")


def markdown(pattern: str = ENGLISH) -> str:
    parts = (f"## {title}\n\n" + "\n\n".join(body) for title, body in chapters(pattern))
    return "# Guide\n\n" + "\n\n".join(parts) + "\n"


def html(pattern: str = ENGLISH) -> str:
    body = "".join(
        f"<h2>{title}</h2>" + "".join(f"<p>{text}</p>" for text in part)
        for title, part in chapters(pattern)
    )
    return (
        "<!doctype html><html><head><title>Guide to valves</title>"
        "<style>p{color:red}</style></head>"
        "<body><nav><a href='/'>Home</a> <a href='/shop'>Shop</a></nav>"
        f"<main><article><h1>Guide</h1>{body}</article></main>"
        "<footer>Imprint and cookies</footer><script>alert(1)</script></body></html>"
    )


def rtf(pattern: str = ENGLISH) -> bytes:
    paragraphs = "".join(rf"{text}\par" + "\n" for text in sentences(pattern))
    return (
        rf"{{\rtf1\ansi\ansicpg1252\deff0{{\fonttbl{{\f0 Arial;}}}}\f0\fs24 {paragraphs}}}".encode()
    )


def csv(pattern: str = ENGLISH) -> str:
    return "number,text\n" + "".join(
        f'{number},"{text}"\n' for number, text in enumerate(sentences(pattern), 1)
    )


def eml(pattern: str = CHINESE, encoding: str = "gb18030") -> bytes:
    message = EmailMessage(policy=SMTP)
    message["From"], message["To"] = "王工 <wang@example.org>", "li@example.org"
    message["Subject"] = "阀门检修"
    message["Date"] = "Thu, 02 Jan 2025 10:00:00 +0800"
    message.set_content("\n\n".join(sentences(pattern)), charset=encoding)
    message.add_attachment(b"\x89PNG....", maintype="image", subtype="png", filename="a.png")
    message.set_boundary("=-=-=")  # else drawn by chance
    return message.as_bytes()


# ---------------------------------------------------------------------------- packed and printed


def packed() -> Iterator[Sample]:
    chinese = {kind: of(kind, CHINESE) for kind in ("pdf", "docx")}
    english = {kind: of(kind) for kind in ("leaflet", "pptx", "xlsx", "epub", "odt")}
    phrase = {kind: middle(pattern) for kind, pattern in english.items()}
    manual = pdf(printed_pages(chinese["pdf"], "第{1}页{0}行的阀门没有任何值得一提的地方。"))
    yield Sample("Chinese PDF", "manual.pdf", manual, middle(chinese["pdf"]), 2)
    leaflet = pdf(printed_pages(english["leaflet"], "Line {0} on page {1} says nothing of valves."))
    yield Sample("PDF", "leaflet.pdf", leaflet, phrase["leaflet"][:40], 2)
    document = docx(chinese["docx"])
    yield Sample("Chinese DOCX", "manual.docx", document, middle(chinese["docx"]), None, HEADING)
    yield Sample("PPTX", "slides.pptx", pptx(english["pptx"]), phrase["pptx"], 2, HEADING)
    yield Sample("XLSX", "parts.xlsx", xlsx(english["xlsx"]), phrase["xlsx"], None, "Sheet cobalt")
    yield Sample("EPUB", "book.epub", epub(english["epub"]), phrase["epub"], None, HEADING)
    yield Sample("ODT", "letter.odt", odt(english["odt"]), phrase["odt"], None, HEADING)


def printed_pages(pattern: str, filler: str) -> list[str]:
    """Full pages, so that no passage with what stands in the middle of one begins on another."""
    pages = []
    for page, (_, part) in enumerate(chapters(pattern), 1):
        lines = [filler.format(line, page) for line in range(90)]
        pages.append("\n".join([*lines[:45], *part, *lines[45:]]))
    return pages


# --------------------------------------------------------------------------------------- code


LANGUAGES = {
    "Python": ("boiler.py", "def {0}_valve():\n    # {1}\n    return {2}\n\n"),
    "Rust": ("boiler.rs", "// {1}\nfn {0}_valve() -> u32 {{\n    {2}\n}}\n\n"),
    "JavaScript": ("boiler.js", "// {1}\nexport function {0}Valve() {{\n  return {2};\n}}\n\n"),
    "SQL": ("boiler.sql", "-- {1}\nCREATE TABLE {0}_valve (id INTEGER DEFAULT {2});\n\n"),
    "shell": ("boiler.sh", "# {1}\n{0}_valve() {{\n  echo {2}\n}}\n\n"),
    "C": ("boiler.c", "/* {1} */\nint {0}_valve(void) {{\n    return {2};\n}}\n\n"),
}


def coded() -> Iterator[Sample]:
    for language, (name, pattern) in LANGUAGES.items():
        told = of(language)
        parts = [
            pattern.format(colour, text, number)
            for number, (colour, text) in enumerate(zip(COLOURS, sentences(told), strict=True), 1)
        ]
        yield Sample(f"code: {language}", name, "".join(parts).encode(), middle(told))
