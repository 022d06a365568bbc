"""In which state may an item be, and what may happen to it there?

              add (container)                      add (leaf)
                    |                                  |
                    v          schedule                v        READ
   +--------> [preparing] ---------------------> [processing] --------> [reading]
   |            |     ^                           ^  |    ^  ^             |  |
   |   roll-up  |     | restart                   |  |    |  +--- READ ----+  | EMBED
   |            v     | (new generation)          |  |    |      (job again)  v
   |       [processing]------- roll-up -----------+  |    +------------- [embedding]
   |            |                                    |                     |
   |            v                                    | FAIL                | COMPLETE
   +---- [completed] [failed] <----------------------+---------------------+

   DELETE leads from every state to [deleting]; nothing leads out of it but the end of the row.

Who may write what stands in MOVES, once. `items.status` is written by one statement per dialect
(`move_items`), which checks the sources listed here against the row as it is at that moment.
"""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """What can be said of an item's journey."""

    IDLE = "idle"
    PREPARING = "preparing"
    PROCESSING = "processing"
    READING = "reading"
    EMBEDDING = "embedding"
    COMPLETED = "completed"
    FAILED = "failed"
    DELETING = "deleting"


IDLE, PREPARING, PROCESSING = Status.IDLE, Status.PREPARING, Status.PROCESSING
READING, EMBEDDING, DELETING = Status.READING, Status.EMBEDDING, Status.DELETING
COMPLETED, FAILED = Status.COMPLETED, Status.FAILED

TERMINAL = frozenset({COMPLETED, FAILED})
WORKING = frozenset({PROCESSING, READING, EMBEDDING})
ACTIVE = WORKING | {PREPARING}
LIVING = frozenset(Status) - {DELETING}


class Move(StrEnum):
    """A change of status, named for what happens to the item."""

    ADOPT = (
        "adopt"  # idle rows from an import or an upgrade: found complete, or their first attempt
    )
    RESTART = "restart"  # a new attempt: update, re-index, rescan, takeover (generation + 1)
    READ = "read"  # a run takes the leaf
    EMBED = "embed"  # its text is cut; vectors are being made and written
    COMPLETE = "complete"  # its build is published, or its recipe was equal
    EXPAND = "expand"  # a container's expansion has ended
    FAIL = "fail"  # the attempt ended with an error
    ROLL_UP = "roll_up"  # a container's status follows from its children
    DELETE = "delete"  # the user's durable intent; wins over everything


MOVES: dict[Move, tuple[frozenset[Status], frozenset[Status]]] = {
    Move.ADOPT: (frozenset({IDLE}), frozenset({PREPARING, PROCESSING, COMPLETED})),
    Move.RESTART: (LIVING, frozenset({PREPARING, PROCESSING})),
    Move.READ: (WORKING, frozenset({READING})),  # from EMBEDDING too: a job that died runs again
    Move.EMBED: (frozenset({READING, EMBEDDING}), frozenset({EMBEDDING})),
    Move.COMPLETE: (WORKING, frozenset({COMPLETED})),
    Move.EXPAND: (ACTIVE, frozenset({PREPARING, PROCESSING, COMPLETED, FAILED})),
    Move.FAIL: (ACTIVE | {IDLE}, frozenset({FAILED})),
    Move.ROLL_UP: (LIVING - {IDLE}, frozenset({PREPARING, PROCESSING, COMPLETED, FAILED})),
    Move.DELETE: (frozenset(Status), frozenset({DELETING})),
}


def sources(move: Move) -> frozenset[Status]:
    """The states this move may start from."""
    return MOVES[move][0]


def may_lead_to(move: Move, target: Status) -> bool:
    """Does this move end in that state?"""
    return target in MOVES[move][1]


def first_status(is_container: bool) -> Status:
    """The status an accepted item is born with."""
    return PREPARING if is_container else PROCESSING


INDEX_STATUS: dict[Status, str | None] = {
    IDLE: "not_indexed",
    PREPARING: "queued",
    PROCESSING: "queued",
    READING: "indexing",
    EMBEDDING: "indexing",
    COMPLETED: "success",
    FAILED: "failed",
    DELETING: None,
}

OLDER_WORDS: dict[Status, str] = {
    IDLE: "pending",
    PREPARING: "pending",
    PROCESSING: "pending",
    READING: "preprocessing",
    EMBEDDING: "embedding",
    COMPLETED: "completed",
    FAILED: "failed",
    DELETING: "deleting",
}


def index_status(status: Status, is_container: bool) -> str | None:
    """The same state in the words of seed 004; a container at work is indexing."""
    if is_container and status is PROCESSING:
        return "indexing"
    return INDEX_STATUS[status]


def statuses_named(word: str) -> frozenset[Status]:
    """The states a filter word means: our own words and those of seed 001."""
    if word in frozenset(Status):
        return frozenset({Status(word)})
    return frozenset(status for status, older in OLDER_WORDS.items() if older == word)
