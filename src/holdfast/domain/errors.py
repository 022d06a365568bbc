"""What went wrong, and what can be done about it?

    HoldfastError
    ├── GuardRejected       the request is not allowed in the present state
    │   ├── InvalidInput    the request itself makes no sense
    │   ├── NotFound        no such base or item (also: not in this base)
    │   ├── Conflict        items are in states that forbid it; `blocking` lists them
    │   └── QueueFull       the queue has no room for the whole call
    ├── Superseded          a newer generation, a newer claim or a delete has taken over
    │   ├── ItemDeleting    a delete owns the item
    │   └── ItemGone        the row is gone
    ├── StageFailed         read, chunk, embed or write could not finish
    │   ├── Permanent       trying again cannot help
    │   └── Transient       trying again may help, perhaps after a given time
    │       ├── ProviderDown    the provider answers nobody: says nothing about the item
    │       │   └── ProviderPaused  … and its row says so already
    │       └── DiskFull        there is no room: says nothing about the item
    ├── Unavailable         the engine cannot serve now (owned by another, stopped, damaged)
    └── TimedOut            the caller stopped waiting; the work goes on

The class decides what the program does: refuse, end quietly, fail or try again. The code is for
machines, the sentence tells a person what and which, the advice tells what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

CODES: dict[str, str] = {
    "invalid_input": "correct the request; the message names the field and the accepted values",
    "not_found": "check the id; list the base's items to see what is there",
    "mixed_bases": "make one call per base",
    "conflict": "wait until the listed items are completed or failed, or pass skip_active=True",
    "not_completed": "wait until the item is completed",
    "deleting": "nothing to do: the item is being deleted and will be gone",
    "base_failed": "read the base's error_code and remove its cause, then try again",
    "base_deleting": "nothing to do: the base is being deleted and will be gone",
    "queue_full": "try again when waiting jobs have ended, or raise max_queue_size",
    "owned": "close the other process, open with read_only=True, or talk to its server",
    "timed_out": "the work goes on; wait again or look at explain()",
    "disk_full": "free space on the disk of the data folder; the work resumes by itself",
    "unauthorized": "send a valid key",
    "forbidden": "use a key that has the needed scope",
    "too_large": "send less at once, or raise the limit named in the message",
    "unsupported": "convert the source to a supported type",
    "unreadable": "check that the file exists and may be read, then re-index the item",
    "source_unreadable": "make the folder or sitemap readable, then re-index the item",
    "no_text": "check the source; set empty_content to 'complete' to accept empty sources",
    "needs_ocr": "configure a processor with OCR for this base, then re-index the item",
    "parser_failed": "open the file in its own program and save it anew, or convert it",
    "fetch_refused": "only public http(s) addresses are fetched; see allowed addresses",
    "fetch_failed": "check that the address answers, then re-index the item",
    "bad_vectors": "check the embedding model: it answered with unusable vectors",
    "provider_failed": "check the provider's status, key and limits, then re-index the item",
    "processing_failed": "read the processor's message, then re-index the item",
    "processing_timeout": "raise file_processing_max_wait or check the processor",
    "lock_timeout": "another worker held the item too long; re-index the item",
    "killed_worker": "the document ended its worker repeatedly; convert it and try again",
    "parent_failed": "re-index the container: its expansion failed before this item had work",
    "schedule_failed": "re-index the item: its work could not be queued",
    "interrupted": "re-index the item: its unfinished work was dismissed",
    "many_vanished": "check that the folder is mounted; confirm with sync --prune",
    "missing_embedding_model": "install or configure the base's model, or migrate the base",
    "model_changed": "bring the former model back under its name, or make a base with the new one",
    "missing_vector_store": "restore the index from a backup, or re-index the base",
    "internal": "this is a defect in Holdfast; please report it with the item's history",
}


@dataclass(frozen=True, slots=True)
class Blocking:
    """An item that stands in the way of an operation, and the state it is in."""

    item_id: str
    name: str
    status: str


class HoldfastError(Exception):
    """Every error a caller can meet: a code, a sentence, and advice."""

    default_code = "internal"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        advice: str | None = None,
        blocking: Sequence[Blocking] = (),
    ) -> None:
        # names of files may hold bytes that are no text; the sentence is written down and shown
        super().__init__(message.encode("utf-8", "backslashreplace").decode())
        self.code = code or self.default_code
        self.advice = advice or CODES[self.code]
        self.blocking = tuple(blocking)


class GuardRejected(HoldfastError):
    default_code = "conflict"


class InvalidInput(GuardRejected):
    default_code = "invalid_input"


class NotFound(GuardRejected):
    default_code = "not_found"


class Conflict(GuardRejected):
    default_code = "conflict"


class QueueFull(GuardRejected):
    default_code = "queue_full"


class Superseded(HoldfastError):
    """Someone newer owns the item: the run ends quietly and leaves no mark."""

    default_code = "conflict"


class ItemDeleting(Superseded):
    default_code = "deleting"


class ItemGone(Superseded):
    default_code = "not_found"


class StageFailed(HoldfastError):
    default_code = "internal"


class Permanent(StageFailed):
    pass


class Transient(StageFailed):
    default_code = "provider_failed"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        advice: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, code=code, advice=advice)
        self.retry_after = retry_after


class ProviderDown(Transient):
    """Nobody gets an answer from this provider, so the failure says nothing about the item."""

    def __init__(self, message: str, *, provider: str, retry_after: float | None = None) -> None:
        super().__init__(message, code="provider_failed", retry_after=retry_after)
        self.provider = provider


class ProviderPaused(ProviderDown):
    """The provider's row says so already: nobody asks before then, and no try is counted."""


class DiskFull(Transient):
    default_code = "disk_full"


class Unavailable(HoldfastError):
    default_code = "owned"


class TimedOut(HoldfastError):
    default_code = "timed_out"
