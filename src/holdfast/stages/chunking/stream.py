"""Which part of a long text is still needed? A window on the stream of its segments."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from holdfast.domain.chunks import Segment

AT_ONCE = 1 << 18


class Window:
    """Text by its offsets in the whole document; what lies behind is let go."""

    def __init__(self, segments: Iterable[Segment]) -> None:
        self._segments = iter(segments)
        self.text, self.base = "", 0
        self.needed = 0  # nobody asks for what lies before this any more
        self.ended = False
        self._page_starts: list[int] = [0]
        self._pages: list[int | None] = [None]

    @property
    def end(self) -> int:
        return self.base + len(self.text)

    def reach(self, place: int, ahead: int) -> None:
        """So much text stands after a place, unless the document ends before."""
        if self.ended or self.end - place >= ahead:
            return
        self._let_go(self.needed)
        parts, end = [self.text], self.end
        while end - place < ahead + AT_ONCE:
            segment = next(self._segments, None)
            if segment is None:
                self.ended = True
                break
            self._turn_to(segment.page, end)
            parts.append(segment.text)
            end += len(segment.text)
        self.text = "".join(parts)

    def _let_go(self, place: int) -> None:
        self.text = self.text[place - self.base :]
        self.base = place
        old = bisect_right(self._page_starts, place) - 1
        del self._page_starts[:old], self._pages[:old]

    def cut(self, start: int, end: int) -> str:
        return self.text[start - self.base : end - self.base]

    def page_of(self, place: int) -> int | None:
        return self._pages[bisect_right(self._page_starts, place) - 1]

    def _turn_to(self, page: int | None, place: int) -> None:
        if page != self._pages[-1]:
            self._page_starts.append(place)
            self._pages.append(page)
