"""What becomes of the entries of one folder: content, passed over in silence, or with a reason?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from holdfast.domain.paths import as_text
from holdfast.ports import Entry
from holdfast.stages.walking.binary import is_clearly_binary
from holdfast.stages.walking.rules import Rules

MOST_SKIPPED = 1_000
VERSION_CONTROL = frozenset({"CVS", "RCS", "SCCS", "_darcs", "_svn", "_MTN", "{arch}"})
SAME_NAME = "its name differs from another entry's only in how characters are composed"


@dataclass(frozen=True, slots=True)
class Manner:
    """How one container is walked."""

    rules: Rules
    recursive: bool
    follow_symlinks: bool
    max_file_bytes: int | None
    declared: Callable[[str], bool] = lambda _name: False  # a processor reads what we cannot


@dataclass(slots=True)
class Skipped:
    """What a listing passed over; the count goes on when the list is full."""

    count: int = 0
    entries: list[dict[str, str]] = field(default_factory=list[dict[str, str]])

    @classmethod
    def of(cls, document: Mapping[str, Any] | None) -> Skipped:
        """Going on where an earlier run was."""
        return cls(document["count"], list(document["entries"])) if document else cls()

    def in_silence(self) -> None:
        self.count += 1

    def add(self, name: str, reason: str) -> None:
        self.count += 1
        if len(self.entries) < MOST_SKIPPED:
            self.entries.append({"path": as_text(name), "reason": reason})

    def document(self) -> dict[str, Any] | None:
        return {"count": self.count, "entries": self.entries} if self.count else None


def is_silent(entry: Entry) -> bool:
    """Hidden names and the folders of version control: nobody asks about them."""
    return entry.name.startswith(".") or (entry.name in VERSION_CONTROL and is_folder(entry))


def is_folder(entry: Entry) -> bool:
    """As it was examined, or else as the folder says."""
    kind = entry.hint if entry.look is None else entry.look.kind
    return kind == "directory" and not entry.is_symlink


def why_not(entry: Entry, manner: Manner) -> str | None:
    """Why this entry is passed over; None when it becomes a child."""
    if (rule := manner.rules.ignored_by(entry.name, is_folder(entry))) is not None:
        return f"ignored by {rule}"
    if entry.is_symlink and (reason := _why_not_link(entry, manner)) is not None:
        return reason
    if is_folder(entry):
        return None if manner.recursive else "folder inside (recursive is off)"
    if entry.hint == "other" or (entry.look is not None and entry.look.kind == "other"):
        return "not a regular file"
    if is_clearly_binary(entry.name) and not manner.declared(entry.name):
        return "unsupported type"
    limit = manner.max_file_bytes
    if limit is not None and entry.look is not None and entry.look.size > limit:
        return f"larger than max_file_bytes ({limit})"
    return None


def _why_not_link(entry: Entry, manner: Manner) -> str | None:
    """Links to folders are never followed: a circle of them has no end."""
    if not manner.follow_symlinks:
        return "symbolic link"
    if entry.look is None:
        return "symbolic link that leads nowhere"
    return "symbolic link to a folder" if entry.look.kind == "directory" else None
