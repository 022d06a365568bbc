"""What does an HTTP answer mean for us: content, elsewhere, never, or later?"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from http import HTTPStatus

from holdfast.domain.errors import Permanent, StageFailed, Transient

LATER = frozenset({408, 421, 425, 429})
ELSEWHERE = frozenset({301, 302, 303, 307, 308})
GONE = frozenset({404, 410})
MAY_NOT = frozenset({401, 402, 403, 407, 451})
UNCHANGED = 304


def is_content(status: int) -> bool:
    return status in (HTTPStatus.OK, HTTPStatus.NON_AUTHORITATIVE_INFORMATION)


def failure(status: int, headers: Mapping[str, str], shown: str, now: float) -> StageFailed:
    """The error that an answer without content is."""
    what = f"{shown} answered {status} {_phrase(status)}".rstrip()
    if status in LATER or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        after = retry_after(headers.get("retry-after", ""), now)
        return Transient(what, code="fetch_failed", retry_after=after)
    if status in GONE:
        advice = "the page is not there: correct the address, or delete the item"
        return Permanent(what, code="fetch_failed", advice=advice)
    if status in MAY_NOT:
        advice = "the page is not public: save it and add the file"
        return Permanent(what, code="fetch_failed", advice=advice)
    return Permanent(what, code="fetch_failed")


def retry_after(text: str, now: float) -> float | None:
    """In how many seconds the server wants to be asked again; it says so in one of two ways."""
    text = text.strip()
    if text.isascii() and text.isdecimal():
        return float(text[:9])
    try:
        when = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    return max(0.0, when.replace(tzinfo=when.tzinfo or UTC).timestamp() - now)


def media_type_of(headers: Mapping[str, str]) -> tuple[str | None, str | None]:
    """What the server says it is, and in which encoding."""
    kind, _, parameters = headers.get("content-type", "").partition(";")
    charset = None
    for parameter in parameters.split(";"):
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "charset":
            charset = value.strip().strip("\"'").lower() or None
    return kind.strip().lower() or None, charset


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return ""
