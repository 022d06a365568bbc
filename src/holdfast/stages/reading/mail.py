"""How is a letter read? Its heads as a person sees them, its text, the names of its files."""

from __future__ import annotations

from collections.abc import Iterator
from email import message_from_bytes, policy
from email.message import EmailMessage

from holdfast.domain.chunks import Segment
from holdfast.stages.reading.encodings import text_in
from holdfast.stages.reading.kinds import Kind
from holdfast.stages.reading.parsed import MARKDOWN, Parsed
from holdfast.stages.web.page import page_of

SHOWN = ("From", "To", "Cc", "Date")
LONGEST_TITLE = 300


def parse_mail(content: bytes) -> Parsed:
    """A heading of its subject, who wrote to whom and when, and the text."""
    letter = message_from_bytes(content, policy=policy.default)
    title = _head(letter, "Subject")[:LONGEST_TITLE]
    return Parsed(Kind.MAIL.value, _segments(letter, title), MARKDOWN, title or None)


def _segments(letter: EmailMessage, title: str) -> Iterator[Segment]:
    if title:
        yield Segment(f"# {title}\n\n")
    heads = [f"{name}: {said}\n" for name in SHOWN if (said := _head(letter, name))]
    if heads:
        yield Segment("".join(heads) + "\n")
    for text in _texts(letter):
        yield Segment(text.replace("\r\n", "\n").strip() + "\n\n")
    hanging = [name for part in letter.walk() if (name := part.get_filename())]
    if hanging:
        yield Segment("Attachments: " + ", ".join(hanging) + "\n")


def _head(letter: EmailMessage, name: str) -> str:
    try:
        return " ".join(str(letter.get(name, "")).split())
    except (ValueError, IndexError, LookupError, TypeError, AttributeError):
        return ""  # a head that breaks its own grammar; the letter can still be read


def _texts(letter: EmailMessage) -> Iterator[str]:
    """Of the same said twice the plain one; without a plain one the page."""
    parts = [part for part in letter.walk() if not part.is_multipart() and not part.get_filename()]
    plain = [part for part in parts if part.get_content_type() == "text/plain"]
    for part in plain or [one for one in parts if one.get_content_type() == "text/html"]:
        payload = part.get_payload(decode=True)
        content = payload if isinstance(payload, bytes) else b""
        charset = part.get_content_charset()
        if part.get_content_type() == "text/html":
            yield page_of(content, f"text/html;charset={charset or ''}").markdown
        else:
            yield text_in(content, charset)
