"""May this archive be unpacked? Counted while it streams: what it declares is not believed.

An office document, an OpenDocument and an EPUB are archives of XML. Before anything that parses
sees one, it is unpacked once into nothing. Entities and internal document types have no business
in what we read and much in attacks, so XML with them is refused whole.
"""

from __future__ import annotations

import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from holdfast.domain.errors import Permanent
from holdfast.ports import Source
from holdfast.stages.reading.kinds import damaged, encrypted

MOST_ENTRIES = 10_000
MOST_BYTES = 512 << 20
MOST_RATIO = 200
RATIO_FROM = 1 << 20  # a small file of blanks packs better than that and harms nobody
BLOCK = 1 << 18
OVERLAP = 256
ENCRYPTED = 0x1
XML_NAMES = (".xml", ".rels", ".opf", ".ncx", ".xhtml", ".html", ".htm", ".svg", ".vml")
ARCHIVE_NAMES = (".zip", ".gz", ".7z", ".rar", ".tar", ".bz2", ".xz", ".jar")
ENTITIES = re.compile(rb"<!ENTITY|<!DOCTYPE[^>\[]{0,200}\[", re.IGNORECASE)
BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    ValueError,
    RuntimeError,  # also: a way of packing that is not known
)


@dataclass(slots=True)
class Count:
    """What came out so far."""

    source: Source
    total: int = 0

    def add(self, size: int, came: int, packed: int) -> None:
        """So many bytes more; `came` of this member out of `packed` bytes."""
        self.total += size
        if self.total > MOST_BYTES:
            raise bomb(self.source, f"holds more than {MOST_BYTES >> 20} MiB")
        if came > RATIO_FROM and came > MOST_RATIO * max(1, packed):
            raise bomb(self.source, f"is packed more than {MOST_RATIO}-fold")


def bomb(source: Source, why: str) -> Permanent:
    return Permanent(
        f"{source.name} {why}: it may be a decompression bomb",
        code="parser_failed",
        advice="if you trust it, split it or save it anew without what makes it so large",
    )


def must_be_harmless(source: Source, file: BinaryIO) -> None:
    """Every member has been unpacked and was within the limits; else Permanent."""
    file.seek(0)
    try:
        with zipfile.ZipFile(file) as archive:
            _look_at(source, archive)
    except BROKEN as error:
        raise damaged(source, error) from error


def _look_at(source: Source, archive: zipfile.ZipFile) -> None:
    members = archive.infolist()
    if len(members) > MOST_ENTRIES:
        raise bomb(source, f"has {len(members)} entries, more than {MOST_ENTRIES}")
    count = Count(source)
    for member in members:
        if member.flag_bits & ENCRYPTED:
            raise encrypted(source)
        if member.filename.lower().endswith(ARCHIVE_NAMES):
            raise bomb(source, f"holds the archive {member.filename!r}")
        _unpack(source, archive, member, count)


def _unpack(
    source: Source, archive: zipfile.ZipFile, member: zipfile.ZipInfo, count: Count
) -> None:
    is_xml, came, tail = member.filename.lower().endswith(XML_NAMES), 0, b""
    for block in _blocks(archive, member):
        came += len(block)
        count.add(len(block), came, member.compress_size)
        if is_xml:
            seen = tail + block
            _must_be_plain(source, member.filename, seen)
            tail = seen[-OVERLAP:]


def _blocks(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Iterator[bytes]:
    with archive.open(member) as stream:
        while block := stream.read(BLOCK):
            yield block


def _must_be_plain(source: Source, name: str, content: bytes) -> None:
    narrow = content.replace(b"\x00", b"") if b"\x00" in content else content  # UTF-16 as well
    if ENTITIES.search(narrow):
        raise Permanent(
            f"{source.name} declares entities or a document type in {name}: refused",
            code="parser_failed",
            advice="save the document anew in its own program; honest ones have none",
        )
