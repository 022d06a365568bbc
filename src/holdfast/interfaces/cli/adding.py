"""What does `holdfast add` do with what it was given?"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from rich.console import Console

from holdfast.domain.addresses import is_web
from holdfast.domain.bases import Base
from holdfast.domain.errors import InvalidInput
from holdfast.domain.guards import MAX_INPUTS
from holdfast.domain.ids import ItemId
from holdfast.domain.items import Input, Item, ItemType, Note, Refused, Sitemap
from holdfast.interfaces.cli.door import Door
from holdfast.interfaces.cli.models import QUICKER
from holdfast.interfaces.cli.outcome import (
    Outcome,
    Trouble,
    say_how_it_ended,
    show_troubles,
    summary,
)
from holdfast.interfaces.cli.screen import counted, place
from holdfast.interfaces.cli.watching import Ending
from holdfast.interfaces.library import Holdfast
from holdfast.interfaces.models import is_optimized
from holdfast.interfaces.words import (
    Document,
    failed_document,
    item_document,
    refused_document,
)
from holdfast.machine.interrupts import Interrupts

STDIN = "-"
FIRST_BASE = "default"
NO_MODEL = "none"


@dataclass(frozen=True, slots=True)
class Asked:
    """An input and its place on the command line."""

    index: int
    given: Input | str

    @property
    def place(self) -> str | None:
        """Where it stands, if it stands somewhere."""
        if isinstance(self.given, Sitemap):
            return self.given.url
        return self.given if isinstance(self.given, str) else None


def asked(paths: Sequence[str], title: str | None, *, sitemap: bool = False) -> list[Asked]:
    """What the command line names, each thing once; - is the text on stdin."""
    if sitemap and not all(is_web(path) for path in paths):
        raise InvalidInput(
            "--sitemap says what the given addresses are, and not all that is given is one",
            advice="add files and folders with a command of their own",
        )
    if paths.count(STDIN) > 1:
        raise InvalidInput("- is given twice; there is one stdin", advice="give - once")
    if title is not None and STDIN not in paths:
        raise InvalidInput(
            "--title names the note read from stdin, and no - is given",
            advice='for example: date | holdfast add - --title "When it was"',
        )
    once = {_same(path): (index, path) for index, path in reversed(list(enumerate(paths)))}
    inputs = sorted(once.values())
    return [Asked(i, _given(path, title, sitemap=sitemap)) for i, path in inputs]


def _given(path: str, title: str | None, *, sitemap: bool) -> Input | str:
    if path == STDIN:
        return _note(title)
    return Sitemap(path) if sitemap else path


def _same(path: str) -> str:
    return path if path == STDIN or is_web(path) else str(Path(path).absolute())


def _note(title: str | None) -> Note:
    if sys.stdin.isatty():
        sys.stderr.write("Type the note; end it with Ctrl-D on a line of its own.\n")
    try:
        text = sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"what stdin gives is not UTF-8 text (byte {error.start})",
            advice="save it to a file and add the file",
        ) from error
    if not text.strip():
        raise InvalidInput("stdin gave no text", advice="pipe the text of the note into - ")
    return Note(text, title)


@dataclass(slots=True)
class Adding:
    """One run of the command."""

    hf: Holdfast
    stop: Interrupts
    base: Base
    created: list[ItemId] = field(default_factory=list[ItemId])
    again: list[ItemId] = field(default_factory=list[ItemId])
    refused: list[Refused] = field(default_factory=list[Refused])
    index_of: dict[ItemId, int] = field(default_factory=dict[ItemId, int])

    @property
    def ids(self) -> list[ItemId]:
        return [*self.created, *self.again]

    def take(self, inputs: Sequence[Asked]) -> Adding:
        """New things are added; what was added before is read again, or left at its work."""
        places = [one.place for one in inputs if one.place is not None]
        known = self.hf.roots_at(self.base, places)
        fresh = [one for one in inputs if not _is_known(one, known)]
        for page in _pages(fresh):
            if self.stop.asked:
                return self
            self._add(page)
        for page in _pages([one for one in inputs if _is_known(one, known)]):
            self._read_again(page, known)
        return self

    def _add(self, page: Sequence[Asked]) -> None:
        added = self.hf.add(self.base, [one.given for one in page])
        missed = {refused.index for refused in added.failed}
        places = [one.index for at, one in enumerate(page) if at not in missed]
        for item, index in zip(added.created, places, strict=True):
            self.created.append(item.id)
            self.index_of[item.id] = index
        self.refused += [_at(refused, page[refused.index].index) for refused in added.failed]

    def _read_again(self, page: Sequence[Asked], known: Mapping[str, Item]) -> None:
        items = {known[str(one.place)].id: one.index for one in page}
        self.hf.reindex(list(items), skip_active=True)
        self.again += items
        self.index_of.update(items)


def begin(
    hf: Holdfast, stop: Interrupts, base: str | None, model: str | None, door: Door
) -> Adding:
    """The base that was named or meant, made when there is none."""
    name = base if base is not None else _meant(hf)
    there = next((one for one in hf.bases() if name in (one.name, one.id)), None)
    if there is not None:
        _may_keep_its_model(hf.base(name), model)
        return Adding(hf, stop, hf.base(name))
    made = _made(hf, name, model)
    used = made.settings.embedding_model
    kind = f"searched by words and by meaning ({used})" if used else "searched by words"
    door.say(f"Made base {made.name}, {kind}.")
    if made.provider == "local" and not is_optimized(hf.settings):
        door.say(QUICKER)
    return Adding(hf, stop, made)


def _made(hf: Holdfast, name: str, model: str | None) -> Base:
    if model is None:
        return hf.create_base(name)
    return hf.create_base(name, embedding_model=None if model == NO_MODEL else model)


def _meant(hf: Holdfast) -> str:
    bases = hf.bases()
    names = {base.name for base in bases}
    if FIRST_BASE in names or not bases:
        return FIRST_BASE
    if len(bases) == 1:
        return bases[0].name
    raise InvalidInput(
        f"there are {len(bases)} bases: {', '.join(sorted(names))}", advice="say which with --base"
    )


def _may_keep_its_model(base: Base, model: str | None) -> None:
    if model is not None and model != (base.settings.embedding_model or NO_MODEL):
        raise InvalidInput(
            f"base {base.name} has the embedding model {base.settings.embedding_model or 'none'}, "
            f"not {model}",
            advice="leave --model out, or name a new base with --base",
        )


def _is_known(one: Asked, known: Mapping[str, Item]) -> bool:
    item = known.get(one.place or "")
    is_sitemap = item is not None and item.type is ItemType.SITEMAP
    return item is not None and (is_sitemap or not isinstance(one.given, Sitemap))


def _pages(inputs: Sequence[Asked]) -> Iterator[list[Asked]]:
    rest = iter(inputs)
    while page := list(islice(rest, MAX_INPUTS)):
        yield page


def _at(refused: Refused, index: int) -> Refused:
    return Refused(index, refused.path, refused.code, refused.error, refused.advice)


def told(door: Door, adding: Adding, hf: Holdfast, outcome: Outcome) -> int:
    """The answer of the command."""
    door.answer(_document(adding, hf, outcome), lambda console: _show(console, adding, outcome))
    say_how_it_ended(door, outcome)
    return outcome.code(refused=bool(adding.refused))


def _document(adding: Adding, hf: Holdfast, outcome: Outcome) -> Document:
    again = set(adding.again)
    roots = Roots(hf, adding.index_of)
    return {
        "baseId": adding.base.id,
        "created": [item_document(item) for item in outcome.items if item.id not in again],
        "reindexed": [item_document(item) for item in outcome.items if item.id in again],
        "failed": [
            *(refused_document(refused) for refused in adding.refused),
            *(failed_document(item, roots.index(item)) for item in outcome.failures),
        ],
        "interrupted": outcome.ending is Ending.INTERRUPTED,
    }


@dataclass(slots=True)
class Roots:
    """Which input an item came from."""

    hf: Holdfast
    known: dict[ItemId, int]

    def index(self, item: Item) -> int | None:
        if item.id not in self.known and item.parent_id is not None:
            above = self.index(self.hf.item(item.parent_id))
            if above is not None:
                self.known[item.id] = above
        return self.known.get(item.id)


def _show(console: Console, adding: Adding, outcome: Outcome) -> None:
    if outcome.ending is None and adding.ids:
        console.print(
            f"Accepted {counted(len(adding.ids), 'item')} into {adding.base.name}. "
            "The next command that runs work does the rest, for example `holdfast recover`."
        )
    elif adding.ids:
        console.print(summary(outcome, adding.base.name))
        for item in outcome.items:
            if item.warning:
                console.print(f"{place(item.source)}: {item.warning}", soft_wrap=True)
        skipped = outcome.tally.skipped
        if skipped:
            entries = counted(skipped, "entry", "entries")
            console.print(f"{entries} skipped; `holdfast show FOLDER` says which and why.")
    refused = [Trouble(place(one.path), one.error, one.advice) for one in adding.refused]
    show_troubles(console, [*refused, *outcome.troubles()])
