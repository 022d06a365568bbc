"""What kind of document is this? What the bytes say first, then what the name says."""

from __future__ import annotations

import re
import zipfile
from enum import StrEnum
from pathlib import PurePath
from typing import BinaryIO

from holdfast.domain.errors import Permanent
from holdfast.ports import Source
from holdfast.stages.web.page import HTML_TYPES, OPENING

HEAD = 8_192
PDF_WITHIN = 1_024  # what its readers allow to stand before the mark


class Kind(StrEnum):
    """A kind of document, and the media type it is known by."""

    TEXT = "text/plain"
    MARKDOWN = "text/markdown"
    HTML = "text/html"
    MAIL = "message/rfc822"
    CSV = "text/csv"
    JSON = "application/json"
    PDF = "application/pdf"
    RTF = "application/rtf"
    DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
    XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    EPUB = "application/epub+zip"
    ODT = "application/vnd.oasis.opendocument.text"
    ODS = "application/vnd.oasis.opendocument.spreadsheet"
    DOC = "application/msword"
    PPT = "application/vnd.ms-powerpoint"
    XLS = "application/vnd.ms-excel"
    IMAGE = "image/*"


PACKED = frozenset({Kind.DOCX, Kind.PPTX, Kind.XLSX, Kind.EPUB, Kind.ODT, Kind.ODS})
PLAIN_TEXT = frozenset({Kind.TEXT, Kind.MARKDOWN, Kind.CSV, Kind.JSON})
BY_NAME = {
    **dict.fromkeys((".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd"), Kind.MARKDOWN),
    **dict.fromkeys((".html", ".htm", ".xhtml"), Kind.HTML),
    **dict.fromkeys((".eml", ".mht", ".mhtml"), Kind.MAIL),
    **dict.fromkeys((".csv", ".tsv"), Kind.CSV),
    **dict.fromkeys((".json", ".jsonl", ".ndjson", ".geojson"), Kind.JSON),
}
PART_OF_OFFICE = {"word/": Kind.DOCX, "ppt/": Kind.PPTX, "xl/": Kind.XLSX}
OLD_OFFICE = {
    ".doc": Kind.DOC,
    ".dot": Kind.DOC,
    ".ppt": Kind.PPT,
    ".pps": Kind.PPT,
    ".xls": Kind.XLS,
}
ZIP = b"PK\x03\x04"
OLD_OFFICE_MARK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
ENCRYPTED_OFFICE = "EncryptedPackage".encode("utf-16-le")
PICTURES = (
    b"\x89PNG\r\n\x1a\n",
    b"\xff\xd8\xff",
    b"GIF87a",
    b"GIF89a",
    b"II*\x00",
    b"MM\x00*",
    b"BM",
)
ARCHIVES = {
    b"\x1f\x8b": "gzip",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"Rar!\x1a\x07": "RAR",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"PK\x05\x06": "empty ZIP",
}
FIELDS = re.compile(rb"(?:[A-Za-z][A-Za-z0-9-]{1,40}:[^\n]*\n(?:[ \t][^\n]*\n)*+){2,}")
OF_MAIL = re.compile(
    rb"^(?:from|received|return-path|delivered-to|message-id):", re.IGNORECASE | re.MULTILINE
)
CONTROLS = bytes(byte for byte in range(32) if byte not in b"\t\n\v\f\r\x1b")
UNPACK = "unpack the archive and add the folder"


def kind_of(source: Source, file: BinaryIO) -> Kind:
    """The kind; Permanent(`unsupported`) for what nobody here can read."""
    file.seek(0)
    head = file.read(HEAD)
    if b"%PDF-" in head[:PDF_WITHIN]:
        return Kind.PDF
    if head.startswith(ZIP):
        return _kind_of_zip(source, file)
    if head.lstrip().startswith(b"{\\rtf"):
        return Kind.RTF
    if head.startswith(OLD_OFFICE_MARK):
        return _kind_of_old_office(source, file)
    if head.startswith(PICTURES) and not _is_text(head):
        return Kind.IMAGE
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return Kind.IMAGE
    for mark, name in ARCHIVES.items():
        if head.startswith(mark) and not _is_text(head):
            raise refused(source, f"is a {name} archive", UNPACK)
    return _kind_of_text(source, head)


def is_packed(content: bytes) -> bool:
    """To say more one would have to open it."""
    return content.startswith((ZIP, OLD_OFFICE_MARK))


def refused(source: Source, why: str, advice: str | None = None) -> Permanent:
    return Permanent(f"{source.name} {why}", code="unsupported", advice=advice)


def encrypted(source: Source) -> Permanent:
    return refused(
        source, "is protected by a password", "save a copy without the password and add that"
    )


def _is_text(head: bytes) -> bool:
    """A text may begin like a picture or an archive: `BM`, `BZh`."""
    return len(head.translate(None, CONTROLS)) == len(head)


def _kind_of_text(source: Source, head: bytes) -> Kind:
    given = (source.media_type or "").partition(";")[0].strip().lower()
    if given in HTML_TYPES or OPENING.match(head.removeprefix(b"\xef\xbb\xbf")):
        return Kind.HTML
    if given == Kind.MARKDOWN:
        return Kind.MARKDOWN
    named = BY_NAME.get(PurePath(source.name).suffix.lower(), Kind.TEXT)
    if named is not Kind.TEXT:
        return named
    fields = FIELDS.match(head)
    if given == Kind.MAIL or (fields and OF_MAIL.search(fields[0])):
        return Kind.MAIL
    return Kind.TEXT


def _kind_of_zip(source: Source, file: BinaryIO) -> Kind:
    try:
        with zipfile.ZipFile(file) as archive:
            names = set(archive.namelist())
            declared = _declared(archive, names)
    except (zipfile.BadZipFile, RuntimeError, ValueError, OSError, EOFError) as error:
        raise damaged(source, error) from error
    if declared is not None:
        return declared
    if "[Content_Types].xml" in names:
        for start, kind in PART_OF_OFFICE.items():
            if any(name.startswith(start) for name in names):
                return kind
    raise refused(source, "is a ZIP archive", UNPACK)


def damaged(source: Source, error: BaseException) -> Permanent:
    return Permanent(f"{source.name} is damaged: {error}"[:300], code="parser_failed")


def _declared(archive: zipfile.ZipFile, names: set[str]) -> Kind | None:
    """OpenDocument and EPUB say first what they are."""
    if "mimetype" not in names:
        return None
    with archive.open("mimetype") as member:
        said = member.read(200).decode("ascii", "replace").strip()
    return next((kind for kind in PACKED if kind.value == said), None)


def _kind_of_old_office(source: Source, file: BinaryIO) -> Kind:
    file.seek(0)
    if ENCRYPTED_OFFICE in file.read(1 << 20):
        raise encrypted(source)
    kind = OLD_OFFICE.get(PurePath(source.name).suffix.lower())
    if kind is None:
        raise refused(source, "is an old Office file of a kind that is not read")
    return kind
