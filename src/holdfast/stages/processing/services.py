"""How does each service say it? Paths, words and places of the same four verbs, as data.

Another service with these verbs is another `Service` here and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from holdfast.domain.processing import Word

Where = tuple[str, ...]  # from the outside of an answer to what is wanted; `*` is any one name


@dataclass(frozen=True, slots=True)
class Service:
    """A service with a submit, a status and a result."""

    submit: str
    status: str
    result: str
    upload: str  # the form field of the document
    fields: Mapping[str, str]
    task: Where
    word: Where
    words: Mapping[str, Word]
    text: Where
    said: tuple[Where, ...] = ()
    ahead: Where = ()
    ahead_counts_itself: bool = False
    partial: Where = ()
    partial_words: frozenset[str] = frozenset()
    key_header: str | None = None
    wait: str | None = None  # the parameter of a long poll, in seconds
    not_ready: frozenset[int] = field(default_factory=frozenset)  # a result that is still to come


SERVICES: dict[str, Service] = {
    "docling": Service(
        submit="/v1/convert/file/async",
        status="/v1/status/poll/{id}",
        result="/v1/result/{id}",
        upload="files",
        # the text in the answer: else the service may put it somewhere and send an address
        fields={"to_formats": "md", "target_type": "inbody", "image_export_mode": "placeholder"},
        task=("task_id",),
        word=("task_status",),
        words={
            "pending": Word.PENDING,
            "started": Word.RUNNING,
            "success": Word.DONE,
            "partial_success": Word.DONE,
            "failure": Word.FAILED,
            "skipped": Word.FAILED,
        },
        text=("document", "md_content"),
        said=(("error_message",), ("failure", "message"), ("errors", "*", "error_message")),
        ahead=("task_position",),
        ahead_counts_itself=True,
        partial=("status",),
        partial_words=frozenset({"partial_success"}),
        key_header="X-Api-Key",
        wait="wait",
    ),
    "mineru": Service(
        submit="/tasks",
        status="/tasks/{id}",
        result="/tasks/{id}/result",
        upload="files",
        fields={"return_md": "true", "response_format_zip": "false"},
        task=("task_id",),
        word=("status",),
        words={
            "pending": Word.PENDING,
            "processing": Word.RUNNING,
            "completed": Word.DONE,
            "failed": Word.FAILED,
        },
        text=("results", "*", "md_content"),
        said=(("error",), ("message",)),
        ahead=("queued_ahead",),
        not_ready=frozenset({202}),
    ),
}
