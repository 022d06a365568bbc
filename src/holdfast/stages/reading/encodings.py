"""In which encoding was a text written? Its mark says, or all of it is UTF-8, or it looks so."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import BinaryIO

from holdfast.stages.reading.kinds import CONTROLS

BLOCK = 1 << 20
LATIN = frozenset({"cp1250", "cp1252", "cp1254", "cp1257", "cp1258"})
WEST = frozenset("àâäáãåæçéèêëíìîïñóòôöõøœúùûüÿß")
EAST = frozenset("áäąăâćčçďđéęěëíîľłńňóôöőřśšşťţúůűüýźžżß")
ONLY_EAST = frozenset("řł")  # read as Western they would be ø and ³, beside letters of the South
SIGNS = frozenset("“”„‘’‚«»–—…•°§€£©®™ªº¿¡·\xa0\xad")
SAMPLE = 1 << 16
LAST_RESORT = "cp1252"
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16: one mark begins like the other
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
GUESSED = [
    "gb18030",
    "big5",
    "big5hkscs",
    "cp932",
    "euc_jp",
    "euc_kr",
    "cp949",
    "cp1252",
    "cp1250",
    "cp1251",
    "koi8_r",
    "cp1253",
    "cp1254",
    "cp1255",
    "cp1256",
    "cp1257",
    "cp1258",
    "cp874",
]
WIDER = {"big5": "big5hkscs", "euc_kr": "cp949", "ascii": "utf-8"}


def encoding_of(file: BinaryIO) -> str | None:
    """A codec's name; None when this is no text."""
    file.seek(0)
    head = file.read(SAMPLE)
    for mark, encoding in MARKS:
        if head.startswith(mark):
            return encoding
    if b"\x00" in head:
        return _without_mark(head)
    place = _first_not_utf8(file)
    if place is None:
        return "utf-8"
    sample = _around(file, head, place)
    return None if _has_controls(sample) else _guessed(sample)


def decoded_by(file: BinaryIO, encoding: str) -> Iterator[tuple[str, int]]:
    """The text in pieces, each with the bytes it was made of; what fits nothing is marked so."""
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    file.seek(0)
    while block := file.read(BLOCK >> 2):
        yield _clean(decoder.decode(block)), len(block)
    if rest := decoder.decode(b"", final=True):
        yield _clean(rest), 0


def text_in(content: bytes, named: str | None = None) -> str:
    """A small text by the name its writer gave, or by its looks."""
    import io

    encoding = known(named) or encoding_of(io.BytesIO(content)) or LAST_RESORT
    return _clean(content.decode(encoding, "replace"))


def known(name: str | None) -> str | None:
    """The codec of that name; what calls itself GB2312 is often more than that."""
    if not name:
        return None
    try:
        found = codecs.lookup(name.strip("\"' ").lower()).name
        b"four".decode(found, "replace")  # `zip` and `rot13` are codecs too
    except (LookupError, ValueError):
        return None
    if found in {"gb2312", "gbk"}:
        return "gb18030"
    return LAST_RESORT if found in {"ascii", "iso8859-1"} else found


def _clean(text: str) -> str:
    return text.replace("\x00", "") if "\x00" in text else text


def _without_mark(head: bytes) -> str | None:
    """UTF-16 of a language whose letters need one byte: every other byte is zero."""
    pairs, halves = len(head) // 2, (head[0::2], head[1::2])
    for encoding, zeros in zip(("utf-16-be", "utf-16-le"), halves, strict=True):
        if pairs > 1 and zeros.count(0) > 0.4 * pairs and _decodes(head[: pairs * 2], encoding):
            return encoding
    return None


def _decodes(content: bytes, encoding: str) -> bool:
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(content)
    except UnicodeDecodeError:
        return False
    return not any(one < " " and one not in "\t\n\v\f\r\x1b" for one in text)


def _first_not_utf8(file: BinaryIO) -> int | None:
    decoder, done = codecs.getincrementaldecoder("utf-8")(), 0
    file.seek(0)
    try:
        while block := file.read(BLOCK):
            decoder.decode(block)
            done += len(block)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        return done + error.start
    return None


def _around(file: BinaryIO, head: bytes, place: int) -> bytes:
    """The beginning, and what stands around what is not UTF-8, in whole lines where there are."""
    if place < len(head):
        return _whole_lines(head)
    file.seek(max(len(head), place - SAMPLE))
    _, _, around = file.read(2 * SAMPLE).partition(b"\n")
    return _whole_lines(head) + _whole_lines(around)


def _whole_lines(part: bytes) -> bytes:
    return part[: part.rfind(b"\n") + 1] or part


def _has_controls(sample: bytes) -> bool:
    """More of them than a text has: a file that is no text decodes in many encodings."""
    found = len(sample) - len(sample.translate(None, CONTROLS))
    return found > max(1, len(sample) // 1_000)


def _guessed(sample: bytes) -> str:
    from charset_normalizer import from_bytes

    tried = (from_bytes(sample[: len(sample) - n], cp_isolation=GUESSED) for n in range(4))
    best = next((found for matches in tried if (found := matches.best())), None)  # a cut character
    if best is None:
        return LAST_RESORT
    if best.encoding in LATIN and _is_western(sample):
        return LAST_RESORT
    return WIDER.get(best.encoding, best.encoding)


def _is_western(sample: bytes) -> bool:
    """Every accent is one of the West, and they are not all of the East as well."""
    west = _accents(sample.decode(LAST_RESORT, "replace"))
    east = _accents(sample.decode("cp1250", "replace"))
    if not west <= WEST:
        return False
    return not (east <= EAST and east & ONLY_EAST)


def _accents(text: str) -> set[str]:
    return {one.lower() for one in text if one > "\x7f" and one not in SIGNS}
