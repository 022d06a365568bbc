"""What is the smallest true PDF? Text by numbers, and a table that tells their characters."""

from __future__ import annotations

import zlib
from collections.abc import Sequence


def pdf(pages: Sequence[str], *, image_only: bool = False) -> bytes:
    """Text by numbers into a table that says which character each number is."""
    characters = sorted({character for page in pages for character in page if character != "\n"})
    number_of = {character: place for place, character in enumerate(characters, 1)}
    count = len(pages)
    listed = " ".join(f"{7 + 2 * n} 0 R" for n in range(count))
    objects: list[bytes] = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {count} /Kids [{listed}] >>".encode(),
        (
            b"<< /Type /Font /Subtype /Type0 /BaseFont /Sample /Encoding /Identity-H"
            b" /DescendantFonts [4 0 R] /ToUnicode 6 0 R >>"
        ),
        (
            b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Sample /DW 600 /FontDescriptor 5 0 R"
            b" /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>"
        ),
        (
            b"<< /Type /FontDescriptor /FontName /Sample /Flags 4 /FontBBox [0 -200 1000 900]"
            b" /ItalicAngle 0 /Ascent 900 /Descent -200 /CapHeight 700 /StemV 80 >>"
        ),
        stream(_to_unicode(number_of)),
    ]
    for place, page in enumerate(pages):
        drawn = b"0 0 200 200 re f" if image_only else _drawn(page, number_of)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {8 + 2 * place} 0 R"
            " /Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        objects.append(stream(drawn))
    return assembled(objects)


def _drawn(page: str, number_of: dict[str, int]) -> bytes:
    lines = [
        line[start : start + 60] for line in page.split("\n") for start in range(0, len(line), 60)
    ]
    shown = b" T* ".join(
        b"<" + b"".join(b"%04x" % number_of[one] for one in line) + b"> Tj" for line in lines
    )
    return b"BT /F1 5 Tf 7 TL 40 770 Td " + shown + b" ET"


def _to_unicode(number_of: dict[str, int]) -> bytes:
    rows = [f"<{n:04x}> <{c.encode('utf-16-be').hex()}>" for c, n in number_of.items()]
    blocks = "\n".join(
        f"{len(part)} beginbfchar\n" + "\n".join(part) + "\nendbfchar"
        for part in (rows[start : start + 100] for start in range(0, len(rows), 100))
    )
    return (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap\n"
        "/CMapName /Sample def /CMapType 2 def\n"
        "1 begincodespacerange <0000> <ffff> endcodespacerange\n"
        f"{blocks}\nendcmap CMapName currentdict /CMap defineresource pop end end"
    ).encode()


def stream(content: bytes) -> bytes:
    """An object that holds packed bytes."""
    packed_content = zlib.compress(content)
    head = f"<< /Length {len(packed_content)} /Filter /FlateDecode >>\nstream\n".encode()
    return head + packed_content + b"\nendstream"


def assembled(objects: Sequence[bytes]) -> bytes:
    """A file of numbered objects; the first is its catalogue."""
    file, places = bytearray(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), []
    for number, one in enumerate(objects, 1):
        places.append(len(file))
        file += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    start = len(file)
    file += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    file += b"".join(b"%010d 00000 n \n" % place for place in places)
    file += b"trailer\n<< /Size %d /Root 1 0 R >>\n" % (len(objects) + 1)
    return bytes(file + b"startxref\n%d\n%%%%EOF\n" % start)
