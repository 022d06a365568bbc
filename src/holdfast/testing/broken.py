"""How does a document get broken? Cut, flipped, spliced, misnamed, locked, and made to burst."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from random import Random

from holdfast.testing.office import XML, docx, xlsx, zipped
from holdfast.testing.printed import pdf
from holdfast.testing.samples import Sample, all_samples

OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
TYPES = ("[Content_Types].xml", "<Types/>")


@dataclass(frozen=True, slots=True)
class Broken:
    """A file that is not what it should be."""

    how: str
    name: str
    content: bytes


def malformed(count: int, seed: str) -> Iterator[Broken]:
    """So many files: every bomb once, and the rest drawn over all kinds and all ways."""
    for number, (how, make) in enumerate(islice(BOMBS.items(), count)):
        name, content = make()
        yield Broken(how, f"{number:04}-{name}", content)
    yield from drawn(max(0, count - len(BOMBS)), seed)


def drawn(count: int, seed: str) -> Iterator[Broken]:
    """Each way in its turn, each time on a sample that the seed picks."""
    rng, samples, ways = Random(seed), all_samples(), list(WAYS.items())
    for number in range(count):
        how, way = ways[number % len(ways)]
        name, content = way(rng, rng.choice(samples), rng.choice(samples))
        yield Broken(how, f"{number:04}-{how.replace(' ', '-')}-{name}", content)


# ------------------------------------------------------------------------------ ways to break one


def truncated(rng: Random, one: Sample, other: Sample) -> tuple[str, bytes]:
    return one.name, one.content[: rng.randrange(len(one.content))]


def flipped(rng: Random, one: Sample, other: Sample) -> tuple[str, bytes]:
    content = bytearray(one.content)
    for _ in range(rng.choice((1, 3, 10, 100))):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    return one.name, bytes(content)


def spliced(rng: Random, one: Sample, other: Sample) -> tuple[str, bytes]:
    """Two documents in one file; which of them it is depends on who looks."""
    place = rng.choice((0, len(one.content), rng.randrange(len(one.content))))
    return one.name, one.content[:place] + other.content + one.content[place:]


def misnamed(rng: Random, one: Sample, other: Sample) -> tuple[str, bytes]:
    return other.name, one.content


def repeated(rng: Random, one: Sample, other: Sample) -> tuple[str, bytes]:
    start, size = rng.randrange(len(one.content)), rng.choice((1, 16, 200))
    part = one.content[start : start + size]
    return one.name, one.content[:start] + part * rng.choice((2, 50, 2_000)) + one.content[start:]


def blotted(rng: Random, one: Sample, other: Sample) -> tuple[str, bytes]:
    """A stretch of it is noise, zeros or 255."""
    start, size = rng.randrange(len(one.content)), rng.choice((4, 64, 1_000))
    blot = rng.choice((rng.randbytes(size), bytes(size), b"\xff" * size))
    return one.name, one.content[:start] + blot + one.content[start + size :]


def locked(rng: Random, one: Sample, other: Sample) -> tuple[str, bytes]:
    """Marked as encrypted, each in the manner of its kind."""
    if one.content.startswith(b"PK"):
        content = bytearray(one.content)
        for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            at = content.find(mark)
            while at >= 0:
                content[at + place] |= 1
                at = content.find(mark, at + 4)
        return one.name, bytes(content)
    if one.content.startswith(b"%PDF"):
        lock = b"/Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <%s> /U <%s> >> "
        keys = rng.randbytes(32).hex().encode(), rng.randbytes(32).hex().encode()
        return one.name, one.content.replace(b"/Root", lock % keys + b"/ID [<00> <00>] /Root")
    return f"{one.name}.docx", OLD_OFFICE + bytes(500) + "EncryptedPackage".encode("utf-16-le")


def noise(rng: Random, one: Sample, other: Sample) -> tuple[str, bytes]:
    """The first bytes promise what the rest does not keep."""
    return one.name, one.content[: rng.choice((4, 8, 64))] + rng.randbytes(
        rng.choice((100, 50_000))
    )


Way = Callable[[Random, Sample, Sample], tuple[str, bytes]]
WAYS: dict[str, Way] = {
    "truncated": truncated,
    "bit-flipped": flipped,
    "polyglot": spliced,
    "wrong extension": misnamed,
    "repeated": repeated,
    "blotted": blotted,
    "encrypted": locked,
    "noise": noise,
}


# ------------------------------------------------------------------------------------------ bombs


def laughs() -> tuple[str, bytes]:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    body = f'{XML}<!DOCTYPE a [<!ENTITY e0 "ha">{entities}]><a>&e11;</a>'
    return "laughs.docx", zipped([TYPES, ("word/document.xml", body)])


def outside() -> tuple[str, bytes]:
    body = f'{XML}<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'
    return "outside.odt", zipped(
        [("mimetype", "application/vnd.oasis.opendocument.text"), ("content.xml", body)]
    )


def swollen_pdf() -> tuple[str, bytes]:
    """A page whose packed content is a thousand times itself."""
    blank = zlib.compress(b"(x) Tj " * 30_000_000, 9)
    head = b"<< /Length %d /Filter /FlateDecode >>\nstream\n" % len(blank)
    return "swollen.pdf", _pdf_with(head + blank + b"\nendstream")


def twice_packed_pdf() -> tuple[str, bytes]:
    inner = zlib.compress(zlib.compress(bytes(400 << 20), 9), 9)
    head = b"<< /Length %d /Filter [/FlateDecode /FlateDecode] >>\nstream\n" % len(inner)
    return "twice.pdf", _pdf_with(head + inner + b"\nendstream")


def endless_pdf() -> tuple[str, bytes]:
    """The pages are their own children."""
    return "endless.pdf", (
        b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n"
        b"2 0 obj\n<< /Type /Pages /Count 9999999 /Kids [2 0 R 2 0 R 2 0 R] >>\nendobj\n"
        b"trailer\n<< /Root 1 0 R >>\n%%EOF\n"
    )


def _pdf_with(stream: bytes) -> bytes:
    return (
        b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n"
        b"2 0 obj\n<< /Type /Pages /Count 1 /Kids [3 0 R] >>\nendobj\n"
        b"3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>\nendobj\n"
        b"4 0 obj\n" + stream + b"\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n"
    )


def huge_sheet() -> tuple[str, bytes]:
    """Two cells at opposite corners of the largest table there can be."""
    corner = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    whole = xlsx()
    return "corners.xlsx", _with_member(whole, "xl/worksheets/sheet1.xml", b"</sheetData>", corner)


def deep_xml() -> tuple[str, bytes]:
    deep = b"<w:p>" * 200_000 + b"</w:p>" * 200_000 + b"</w:body>"
    return "deep.docx", _with_member(docx(), "word/document.xml", b"</w:body>", deep)


def _with_member(archive: bytes, name: str, old: bytes, new: bytes) -> bytes:
    import io
    import zipfile

    with zipfile.ZipFile(io.BytesIO(archive)) as opened:
        members = [(one, opened.read(one)) for one in opened.namelist()]
    return zipped([(one, part.replace(old, new) if one == name else part) for one, part in members])


def huge_picture() -> tuple[str, bytes]:
    size = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 6, 0, 0, 0)
    return "huge.png", b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + b"IHDR" + size + bytes(4)


def nested_letter() -> tuple[str, bytes]:
    letter = b"From: a@b.c\r\nSubject: deep\r\n"
    for depth in range(2_000):
        letter += b'Content-Type: multipart/mixed; boundary="b%d"\r\n\r\n--b%d\r\n' % (depth, depth)
    return "deep.eml", letter + b"Content-Type: text/plain\r\n\r\nbottom\r\n"


Bomb = Callable[[], tuple[str, bytes]]
BOMBS: dict[str, Bomb] = {
    "bomb: packed": lambda: ("bomb.docx", zipped([TYPES, ("word/document.xml", bytes(300 << 20))])),
    "bomb: entries": lambda: (
        "many.xlsx",
        zipped([TYPES, *((f"xl/{n}.xml", "") for n in range(20_000))]),
    ),
    "bomb: nested": lambda: (
        "nested.epub",
        zipped([("mimetype", "application/epub+zip"), ("a.zip", zipped([("b", "")]))]),
    ),
    "bomb: laughs": laughs,
    "bomb: XXE": outside,
    "bomb: PDF stream": swollen_pdf,
    "bomb: PDF packed twice": twice_packed_pdf,
    "bomb: PDF loop": endless_pdf,
    "bomb: PDF pages": lambda: ("pages.pdf", pdf(["page"] * 5_000)),
    "bomb: sheet": huge_sheet,
    "bomb: deep XML": deep_xml,
    "bomb: deep HTML": lambda: ("deep.html", b"<html><body>" + b"<div><b>" * 300_000 + b"end"),
    "bomb: deep JSON": lambda: ("deep.json", b"[" * 2_000_000),
    "bomb: deep RTF": lambda: ("deep.rtf", b"{\\rtf1 " + b"{" * 1_000_000 + b"end"),
    "bomb: deep letter": nested_letter,
    "bomb: one line": lambda: ("line.txt", b"x" * (8 << 20)),
    "bomb: table": lambda: ("cells.csv", b"," * (4 << 20)),
    "bomb: picture": huge_picture,
    "bomb: old Office": lambda: ("old.doc", OLD_OFFICE + b"\xfe\xff" * 40_000),
    "nothing": lambda: ("nothing.pdf", b""),
}
