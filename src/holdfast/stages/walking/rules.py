"""Which entries do the user's own rules leave out?

Rules stand in `.gitignore` and `.holdfastignore` of a folder and of all folders above it up to the
one that was added. The last line that matches decides; a file further down is asked before one
further up; and every `.holdfastignore` before any `.gitignore`, so that what git shall not keep may
still be found, and the other way round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from holdfast.stages.walking.patterns import Pattern, pattern_of

RULE_FILES = (".holdfastignore", ".gitignore")  # the strongest first
MAX_RULE_BYTES = 1 << 20
BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class RuleFile:
    """One file of rules, with the way from its folder down to the one being listed."""

    name: str
    way: tuple[str, ...]
    patterns: tuple[Pattern, ...]

    def decides(self, name: str, is_folder: bool) -> Pattern | None:
        """The last of its lines that matches the entry."""
        path = (*self.way, name)
        return next((one for one in self.patterns if one.matches(path, is_folder)), None)

    @property
    def shown(self) -> str:
        return "../" * len(self.way) + self.name


@dataclass(frozen=True, slots=True)
class Rules:
    """All that hold in one folder, the strongest first."""

    files: tuple[RuleFile, ...] = ()

    def ignored_by(self, name: str, is_folder: bool) -> str | None:
        """The file and the line that leave this entry out, in words; None when it stays."""
        for file in self.files:
            found = file.decides(name, is_folder)
            if found is not None:
                return None if found.takes_back else f"{file.shown}: {found.line}"
        return None


Level = tuple[str, Mapping[str, bytes]]


def rules_of(levels: Sequence[Level]) -> Rules:
    """The rules from the added folder down to this one: each level's name, and its rule files."""
    names = [name for name, _ in levels]
    found = [
        RuleFile(kind, tuple(names[depth + 1 :]), _patterns(contents[kind]))
        for kind in RULE_FILES
        for depth, (_, contents) in reversed(list(enumerate(levels)))
        if kind in contents
    ]
    return Rules(tuple(file for file in found if file.patterns))


def _patterns(content: bytes) -> tuple[Pattern, ...]:
    """The rules of a file, the last line first; names in it may be any bytes, as on the disk."""
    text = content.removeprefix(BOM).decode("utf-8", "surrogateescape")
    found = [pattern_of(line) for line in text.split("\n")]
    return tuple(one for one in reversed(found) if one is not None)
