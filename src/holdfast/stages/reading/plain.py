"""How is a plain text file read? Strictly: what is not valid UTF-8 is refused, never guessed."""

from __future__ import annotations

from hashlib import sha256

from holdfast.domain.errors import Permanent
from holdfast.ports import Document

BOM = b"\xef\xbb\xbf"
SNIFFED = 8_192


class PlainReader:
    """UTF-8 text, with or without a byte order mark."""

    def read(self, name: str, content: bytes) -> Document:
        text = _decoded(name, content.removeprefix(BOM))
        return Document(text, sha256(content).hexdigest(), len(content))


def _decoded(name: str, content: bytes) -> str:
    if b"\x00" in content[:SNIFFED]:
        raise Permanent(f"{name} is not a text file", code="unsupported")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Permanent(
            f"{name} is not valid UTF-8 at byte {error.start}",
            code="unsupported",
            advice="convert the file to UTF-8, then re-index the item",
        ) from error
