"""How is a page of the web read? Its main content; the whole page when there is little of it."""

from __future__ import annotations

from holdfast.domain.chunks import Segment
from holdfast.ports import Source
from holdfast.stages.reading.parsed import MARKDOWN, Parsed
from holdfast.stages.reading.plain import content_of
from holdfast.stages.web.page import FROM_WEB, page_of


def is_page(source: Source) -> bool:
    return (source.media_type or "").startswith(FROM_WEB)


def parse_page(source: Source) -> Parsed:
    """Markdown with headings, tables and code; navigation and footers are left out."""
    page = page_of(content_of(source), str(source.media_type))
    segments = iter([Segment(page.markdown)] if page.markdown else [])
    return Parsed("text/html", segments, MARKDOWN, page.title)
