"""What does it mean when a provider refuses? Later, never, or less at once."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from holdfast.domain.errors import Permanent, ProviderDown, StageFailed, Transient
from holdfast.stages.web.answers import retry_after

TOO_LARGE = 413
MAY_NAME_SIZE = frozenset({400, 413, 422, 424})
SIZE = re.compile(
    r"\b(batch|size|too (many|long|large|big)|tokens?|length|maximum|limit|exceed\w*)\b",
    re.IGNORECASE,
)
NOT_OURS = frozenset({401, 402, 403, 404, 405})
BUSY = frozenset({408, 425, 429})
SERVERS_FAULT = 500
LONGEST_PAUSE = 600.0
SHOWN = 300
ADVICE = {
    401: "check the provider's key",
    402: "check the provider's account",
    403: "check what the provider's key may do",
    404: "check the provider's base_url and the model's name",
    405: "check the provider's base_url",
}


class TooMuch(Permanent):
    """Refused for its size: less at once may be taken."""


class NotUnderstood(Permanent):
    """Refused for how it was asked: asked otherwise it may be answered."""


def refusal(
    provider: str, status: int, headers: Mapping[str, str], words: str, now: float
) -> StageFailed:
    """The error that this answer is; `words` hold no secret."""
    said = told(words)
    what = f"provider {provider} answered {status}{': ' if said else ''}{said}"
    after = retry_after(headers.get("retry-after", ""), now)
    after = None if after is None else min(after, LONGEST_PAUSE)
    if status in BUSY:
        return Transient(what, retry_after=after)
    if status >= SERVERS_FAULT:
        return ProviderDown(what, provider=provider, retry_after=after)
    if status == TOO_LARGE or (status in MAY_NAME_SIZE and SIZE.search(said)):
        return TooMuch(what, code="provider_failed", advice="make chunk_size smaller")
    if status in NOT_OURS:
        return Permanent(what, code="provider_failed", advice=ADVICE[status])
    return NotUnderstood(what, code="provider_failed")


def told(words: str) -> str:
    """The server's sentence, wherever it stands in its answer; one line, not long."""
    try:
        found = _sentence(json.loads(words))
    except ValueError:
        found = words
    return " ".join(found.split())[:SHOWN]


def _sentence(document: object) -> str:
    """OpenAI {error: {message}}, TEI and Cohere {message}, FastAPI {detail}, others {error}."""
    if isinstance(document, str):
        return document
    if isinstance(document, dict):
        for name in ("error", "message", "detail", "msg"):
            if document.get(name):
                return _sentence(document[name])
    if isinstance(document, list) and document:
        return _sentence(document[0])
    return json.dumps(document)
