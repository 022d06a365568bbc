"""How is what is there listed: as pages for programs, as a tree for people?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from holdfast.domain.bases import Base
from holdfast.domain.errors import InvalidInput
from holdfast.domain.ids import BaseId
from holdfast.domain.item_states import ACTIVE, Status, statuses_named
from holdfast.domain.items import Item
from holdfast.interfaces.cli.screen import counted, short_id, size_text, status_text
from holdfast.interfaces.library import Holdfast
from holdfast.interfaces.words import Document, item_document

PAGE = 500
EVERYTHING = "*"


@dataclass(frozen=True, slots=True)
class Asked:
    """Which items are wanted."""

    bases: tuple[Base, ...]
    inside: Item | None
    status: str | None
    statuses: frozenset[Status]
    limit: int

    @classmethod
    def of(
        cls, hf: Holdfast, item: str | None, base: str | None, status: str | None, limit: int
    ) -> Asked:
        if limit < 1:
            raise InvalidInput(f"--limit is {limit}; it takes 1 or more")
        statuses = statuses_named(status) if status is not None else frozenset(Status)
        if not statuses:
            raise InvalidInput(f"--status is {status!r}; it takes {' | '.join(Status)}")
        inside = None if item is None else hf.find(item, base=base)
        if inside is not None:
            return cls((hf.base(inside.base_id),), inside, status, statuses, limit)
        bases = hf.bases() if base is None else [hf.base(base)]
        return cls(tuple(bases), None, status, statuses, limit)


# --- for programs ------------------------------------------------------------------------------


def page_of(hf: Holdfast, asked: Asked, cursor: str | None) -> Document:
    """At most `limit` items and the cursor of the rest, over all asked bases."""
    at, inner = _cursor(asked.bases, cursor)
    documents: list[Document] = []
    while at < len(asked.bases):
        base = asked.bases[at]
        room = min(PAGE, asked.limit - len(documents))
        page = hf.items(
            base,
            parent=asked.inside or EVERYTHING,
            status=asked.status,
            cursor=inner,
            limit=room,
        )
        documents += [item_document(one, share(hf, one)) for one in page.items]
        inner, at = page.next_cursor, at if page.next_cursor else at + 1
        if len(documents) >= asked.limit and at < len(asked.bases):
            return {"items": documents, "nextCursor": f"{asked.bases[at].id}/{inner or ''}"}
    return {"items": documents, "nextCursor": None}


def share(hf: Holdfast, item: Item) -> int:
    """The percentage of an item; of a container at work, that of what is inside."""
    return (
        hf.progress(item).percent if item.is_container and item.status in ACTIVE else item.progress
    )


def _cursor(bases: Sequence[Base], cursor: str | None) -> tuple[int, str | None]:
    if cursor is None:
        return 0, None
    base, slash, inner = cursor.partition("/")
    at = [one.id for one in bases].index(BaseId(base)) if base in {b.id for b in bases} else None
    if at is None or not slash:
        raise InvalidInput(f"{cursor!r} is not a cursor of this list")
    return at, inner or None


# --- for people --------------------------------------------------------------------------------


@dataclass(slots=True)
class Branch:
    """A base or an item, and what is shown below it."""

    label: Text
    children: list[Branch] = field(default_factory=list["Branch"])
    more: int = 0


@dataclass(slots=True)
class Room:
    """How many lines may still be shown."""

    lines: int


def trees(hf: Holdfast, asked: Asked) -> list[Branch]:
    room = Room(asked.limit)
    if asked.inside is not None:
        label = _label(hf, asked.inside)
        return [Branch(label, list(_below(hf, asked, asked.bases[0], asked.inside, room)))]
    return [
        Branch(_base_label(hf, base), list(_below(hf, asked, base, None, room)))
        for base in asked.bases
    ]


def _below(
    hf: Holdfast, asked: Asked, base: Base, parent: Item | None, room: Room
) -> Iterator[Branch]:
    """The branches below; with a status only items that have it, and what they stand in."""
    for item in _children(hf, base, parent):
        if room.lines <= 0:
            return
        room.lines -= 1
        inside = list(_below(hf, asked, base, item, room)) if item.is_container else []
        if asked.status is None or inside or item.status in asked.statuses:
            yield Branch(_label(hf, item), inside)
        else:
            room.lines += 1


def _children(hf: Holdfast, base: Base, parent: Item | None) -> Iterator[Item]:
    cursor: str | None = None
    while True:
        page = hf.items(base, parent=parent, cursor=cursor, limit=PAGE)
        yield from sorted(page.items, key=_as_read) if parent is not None else page.items
        cursor = page.next_cursor
        if cursor is None:
            return


def _as_read(item: Item) -> tuple[bool, str]:
    """Folders first, then by name; what was added by hand stays newest first."""
    return not item.is_container, item.name


def _base_label(hf: Holdfast, base: Base) -> Text:
    seen = hf.overview(base)
    text = Text.assemble(
        (base.name, "bold"), (f"  {counted(seen.document_count, 'document')}", "dim")
    )
    if base.paused:
        text.append("  paused", style="yellow")
    if base.error_code:
        text.append(f"  failed: {base.error_code}", style="red")
    return text


def _label(hf: Holdfast, item: Item) -> Text:
    name = f"{item.name}/" if item.is_container else item.name
    text = Text.assemble(
        (name, "bold" if item.is_container else ""), "  ", status_text(item.status)
    )
    if item.status in ACTIVE:
        text.append(f" {share(hf, item)} %", style="cyan")
    if not item.is_container:
        text.append(f"  {counted(item.chunk_count, 'passage')}, {size_text(item.size)}", "dim")
    if item.pending:
        text.append(f"  ({item.pending} waiting)", style="yellow")
    if item.error and not item.is_container:
        text.append(f"  {item.error}", style="red")
    elif item.warning:
        text.append(f"  {item.warning}", style="yellow")
    text.append(f"  {short_id(item.id)}", style="dim")
    return text


def show_tree(console: Console, found: Sequence[Branch], limit: int) -> None:
    shown = 0
    for branch in found:
        tree = Tree(branch.label, guide_style="dim")
        shown += _grow(tree, branch)
        console.print(tree, soft_wrap=True)
    if shown >= limit:
        console.print(Text(f"… only {limit:,} shown; --limit shows more", style="dim"))


def _grow(tree: Any, branch: Branch) -> int:
    return sum(1 + _grow(tree.add(child.label), child) for child in branch.children)
