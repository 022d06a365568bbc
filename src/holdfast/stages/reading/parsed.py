"""What does a reader find in a document? Its form, its own title, and its text as a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from holdfast.domain import chunks
from holdfast.domain.chunks import Segment

MARKDOWN, PLAIN = chunks.MARKDOWN, chunks.PLAIN
TEXT_TYPES = frozenset({"text/markdown", "text/plain", "text/csv", "application/json"})


def all_of_it() -> float:
    """Of a format that does not say how far it is."""
    return 1.0


@dataclass(frozen=True, slots=True)
class Parsed:
    """A document about to be read; its segments come once, in order, as they are asked for.

    Headings mean something in Markdown only. `consumed` tells at any time how much of the source
    has been read, from 0 to 1.
    """

    media_type: str
    segments: Iterator[Segment]
    form: str = PLAIN
    title: str | None = None
    encoding: str | None = None
    consumed: Callable[[], float] = all_of_it

    @property
    def is_text(self) -> bool:
        """The bytes are the text: where it is blank there is nothing in the document."""
        return self.media_type in TEXT_TYPES
