"""What did a server send, unpacked? Counted while it streams: nobody's declared size is trusted."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

from holdfast.domain.errors import Permanent, Transient

STEP = 1 << 16
ANY_HEADER = 47  # gzip or zlib, whichever it is
NO_HEADER = -15
PACKED = frozenset({"gzip", "x-gzip", "deflate"})
PLAIN = frozenset({"", "identity"})
GZIP = b"\x1f\x8b"


def body_of(pieces: Iterable[bytes], encoding: str, limit: int, what: str) -> bytes:
    """The whole body, unpacked; Permanent(`too_large`) as soon as it is over the limit."""
    encoding = encoding.strip().lower()
    if encoding in PACKED:
        return _joined(unpacked(_counted(pieces, limit, what), what), limit, what)
    if encoding not in PLAIN:
        raise Permanent(f"{what} is packed as {encoding!r}, unasked", code="fetch_failed")
    return _joined(pieces, limit, what)


def unpacked(pieces: Iterable[bytes], what: str) -> Iterator[bytes]:
    """The content of a gzip or zlib stream, at most `STEP` bytes at a time."""
    stream, begun = zlib.decompressobj(ANY_HEADER), False
    for piece in pieces:
        rest = piece
        while rest:
            if stream.eof:  # several members in a row are one content
                stream, begun = zlib.decompressobj(ANY_HEADER), False
            try:
                content = stream.decompress(rest, STEP)
            except zlib.error as error:
                if begun:
                    raise _broken(what, error) from error
                stream, begun = zlib.decompressobj(NO_HEADER), True  # deflate without its header
                continue
            begun = True
            rest = stream.unconsumed_tail or stream.unused_data
            yield content
            while not rest and not stream.eof and content:
                content = stream.decompress(b"", STEP)
                yield content
    if begun and not stream.eof:
        raise Transient(f"{what} was cut short", code="fetch_failed")


def unpacked_gzip(content: bytes, limit: int, what: str) -> bytes:
    """A file that is packed itself (`sitemap.xml.gz`), or the content as it is."""
    if not content.startswith(GZIP):
        return content
    steps = (content[at : at + STEP] for at in range(0, len(content), STEP))
    return _joined(unpacked(steps, what), limit, what)


def _joined(pieces: Iterable[bytes], limit: int, what: str) -> bytes:
    return b"".join(_counted(pieces, limit, what))


def _counted(pieces: Iterable[bytes], limit: int, what: str) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > limit:
            raise Permanent(f"{what} is larger than fetch_max_bytes ({limit})", code="too_large")
        yield piece


def _broken(what: str, error: Exception) -> Transient:
    return Transient(f"{what} cannot be unpacked: {error}", code="fetch_failed")
