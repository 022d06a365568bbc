"""Who knows the office formats? kreuzberg, and it is asked in this one function.

It believes whatever type it is told, so it is told what the bytes say. It caches nothing, and
nothing of its own OCR is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.domain.errors import Permanent
from holdfast.ports import Source
from holdfast.stages.reading.kinds import encrypted

SECONDS = 300
LONGEST_TITLE = 300
OF_PASSWORDS = ("encrypt", "password")


@dataclass(frozen=True, slots=True)
class Extracted:
    """Markdown, or its pages where the format has some."""

    content: str
    title: str | None
    pages: tuple[tuple[int, str], ...] = ()


def extracted(source: Source, content: bytes, media_type: str) -> Extracted:
    """What it says of the bytes; Permanent(`parser_failed`) with its words when it does not."""
    import kreuzberg

    settings = kreuzberg.ExtractionConfig(
        use_cache=False,
        enable_quality_processing=False,
        output_format="markdown",
        pages=kreuzberg.PageConfig(extract_pages=True),
        extraction_timeout_secs=SECONDS,
    )
    try:
        found = kreuzberg.extract_bytes_sync(content, media_type, settings)
    except kreuzberg.KreuzbergError as error:
        raise _translated(source, error) from error
    metadata: dict[str, Any] = dict(found.metadata or {})
    return Extracted(found.content, _title(metadata), _pages(found, metadata))


def _translated(source: Source, error: Exception) -> Permanent:
    said = " ".join(str(error).split())[:300]
    if any(word in said.lower() for word in OF_PASSWORDS):
        return encrypted(source)
    return Permanent(f"{source.name} could not be read: {_in_words(said)}", code="parser_failed")


def _in_words(said: str) -> str:
    """The reader's sentence without the names of its errors, each part of it once."""
    parts = dict.fromkeys(part.strip() for part in said.split(": "))
    return ": ".join(part for part in parts if not part.endswith("Error")) or said


def _title(metadata: dict[str, Any]) -> str | None:
    core = metadata.get("core_properties") or {}
    found = metadata.get("title") or core.get("title") or metadata.get("subject")
    title = " ".join(str(found or "").split())
    return title[:LONGEST_TITLE] or None


def _pages(found: Any, metadata: dict[str, Any]) -> tuple[tuple[int, str], ...]:
    """Its list of pages where there is one; slides are told as ranges of bytes of the content."""
    if (metadata.get("pages") or {}).get("unit_type") == "slide":
        return _slides(found.content.encode(), metadata["pages"].get("boundaries") or ())
    return tuple((one["page_number"], one["content"]) for one in found.pages or ())


def _slides(whole: bytes, ranges: Sequence[dict[str, int]]) -> tuple[tuple[int, str], ...]:
    """It counts before it trims its text, so a range begins a little early: in a line's end."""
    starts = [_line_from(whole, one["byte_start"]) for one in ranges]
    ends = [*starts[1:], len(whole)]
    return tuple(
        (one["page_number"], whole[start:end].decode("utf-8", "ignore"))
        for one, start, end in zip(ranges, starts, ends, strict=True)
    )


def _line_from(whole: bytes, place: int) -> int:
    """The beginning of a line, here or next."""
    if place == 0 or whole[place - 1 : place] == b"\n":
        return place
    return whole.find(b"\n", place) + 1 or len(whole)
