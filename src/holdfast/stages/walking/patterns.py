"""What does one line of a `.gitignore` match?

Written here because git asks the entry alone: a folder that is ignored is never entered, so what is
inside it is never asked about, and a pattern that re-includes a folder says nothing of its inside.
`pathspec` matches whole paths with everything below; in one rule set of fifteen drawn at random
it takes files in that git leaves out (docs/decisions/010). The tests ask git itself.

A pattern is a row of segments. Each is matched in linear time (a star takes the first match that
follows it, possessively), and so is the row: no file in a hostile folder can make this slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

ANY_DEPTH = None  # the segment `**`: none, one or many folders
Segment = re.Pattern[str] | None
CLASSES = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "space": r" \t\n\r\f\v",
    "blank": r" \t",
    "punct": r"!-/:-@\[-`{-~",
    "xdigit": "0-9a-fA-F",
    "cntrl": r"\x00-\x1f\x7f",
    "print": r"\x20-\x7e",
    "graph": r"\x21-\x7e",
}


class NoPattern(ValueError):
    """The line can match nothing; git passes over it in silence, and so do we."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """One rule: what it matches, and whether it takes out or back in."""

    line: str
    takes_back: bool
    folders_only: bool
    segments: tuple[Segment, ...]

    def matches(self, path: Sequence[str], is_folder: bool) -> bool:
        """Does it match this entry itself? `path` leads from the file of rules to the entry."""
        if self.folders_only and not is_folder:
            return False
        if len(self.segments) == 2 and self.segments[0] is ANY_DEPTH:  # noqa: PLR2004  ("*.log")
            return _fits(self.segments[1], path[-1])
        return _row_fits(self.segments, path)


def pattern_of(line: str) -> Pattern | None:
    """The rule a line stands for; None for blank lines, comments, and what matches nothing."""
    text = _without_trailing_spaces(line.rstrip("\r\n"))
    if not text or text.startswith("#"):
        return None
    takes_back = text.startswith("!")
    body = text[1:] if takes_back else text
    folders_only = body.endswith("/")
    body = body.removesuffix("/")
    anchored = "/" in body
    body = body.removeprefix("/")
    if not body:
        return None
    try:
        segments = tuple(_segments(body if anchored else f"**/{body}"))
    except NoPattern:
        return None
    return Pattern(text, takes_back, folders_only, segments)


def _without_trailing_spaces(line: str) -> str:
    bare = line.rstrip(" ")
    escaped = (len(bare) - len(bare.rstrip("\\"))) % 2 == 1 and len(bare) < len(line)
    return f"{bare} " if escaped else bare


def _segments(body: str) -> Iterator[Segment]:
    parts = body.split("/")
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        if part != "**":
            yield re.compile(_glob(part), re.DOTALL)
        elif not last:
            yield ANY_DEPTH
        else:  # everything inside, but not the folder itself
            yield from (ANY_DEPTH, re.compile(".+", re.DOTALL))


def _fits(segment: Segment, name: str) -> bool:
    return segment is ANY_DEPTH or segment.fullmatch(name) is not None


def _row_fits(segments: Sequence[Segment], path: Sequence[str]) -> bool:
    """Wildcard matching over whole segments: only the last `**` is ever taken further."""
    at = there = 0
    star, mark = -1, 0
    while there < len(path):
        if at < len(segments) and segments[at] is ANY_DEPTH:
            star, mark = at, there
            at += 1
        elif at < len(segments) and _fits(segments[at], path[there]):
            at, there = at + 1, there + 1
        elif star >= 0:
            mark += 1
            at, there = star + 1, mark
        else:
            return False
    return all(segment is ANY_DEPTH for segment in segments[at:])


@lru_cache(maxsize=4_096)
def _glob(part: str) -> str:
    """One segment as a regular expression, without backtracking over its stars."""
    pieces = [""]
    at = 0
    while at < len(part):
        if part[at] == "*":
            pieces.append("")
            while at < len(part) and part[at] == "*":
                at += 1
            continue
        text, at = _character(part, at)
        pieces[-1] += text
    if len(pieces) == 1:
        return pieces[0]
    middle = "".join(f"(?>.*?{piece})" for piece in pieces[1:-1] if piece)
    return f"{pieces[0]}{middle}.*{pieces[-1]}"


def _character(part: str, at: int) -> tuple[str, int]:
    """What stands for one character, and where the next one begins."""
    match part[at]:
        case "?":
            return ".", at + 1
        case "[":
            return _brackets(part, at + 1)
        case "\\":
            if at + 1 == len(part):
                raise NoPattern(part)
            return re.escape(part[at + 1]), at + 2
        case plain:
            return re.escape(plain), at + 1


def _brackets(part: str, at: int) -> tuple[str, int]:
    """A set of characters: `[a-z]`, `[!x]`, `[[:digit:]]`."""
    negated = part[at : at + 1] in ("!", "^")
    at += negated
    members: list[str] = []
    while not (members and part[at : at + 1] == "]"):
        if part.startswith("[:", at):
            end = part.find(":]", at + 2)
            members.append(_class(part, at, end))
            at = end + 2
            continue
        first, at = _literal(part, at)
        if part[at : at + 1] == "-" and part[at + 1 : at + 2] not in ("", "]"):
            last, at = _literal(part, at + 1)
            members.append(f"{re.escape(first)}-{re.escape(last)}" if first <= last else "")
        else:
            members.append(re.escape(first))
    inside = "".join(members)
    if not inside:
        return ("." if negated else "(?!)."), at + 1
    return f"[{'^' if negated else ''}{inside}]", at + 1


def _class(part: str, at: int, end: int) -> str:
    name = part[at + 2 : end] if end > 0 else ""
    if name not in CLASSES:
        raise NoPattern(part)
    return CLASSES[name]


def _literal(part: str, at: int) -> tuple[str, int]:
    if part[at : at + 1] == "\\":
        at += 1
    if at >= len(part):
        raise NoPattern(part)
    return part[at], at + 1
