"""How does a Python program come in? Typed and synchronous; everything else here is private."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from holdfast.assembly import Engine, open_engine
from holdfast.config import Settings
from holdfast.domain.bases import Base, BaseSettings, may_name_model
from holdfast.domain.chunks import ChunkView
from holdfast.domain.errors import GuardRejected, InvalidInput, NotFound, TimedOut
from holdfast.domain.events import Event
from holdfast.domain.filters import parsed
from holdfast.domain.given import is_text, may_wait
from holdfast.domain.ids import BaseId, ItemId
from holdfast.domain.item_states import Status, statuses_named
from holdfast.domain.items import Attribute, Input, Item, Page
from holdfast.domain.jobs import Lane
from holdfast.domain.progress import Progress, Tally
from holdfast.interfaces.drain import drain
from holdfast.stores.catalog import Listing
from holdfast.workflow.add_items import Added, add_items
from holdfast.workflow.bases import create_base, set_paused, update_base
from holdfast.workflow.delete_base import delete_base
from holdfast.workflow.delete_items import delete_items
from holdfast.workflow.doctor import Finding, doctor
from holdfast.workflow.explain import Explanation, explain
from holdfast.workflow.find_item import find_item, roots_at
from holdfast.workflow.history import events, history
from holdfast.workflow.list_chunks import list_chunks
from holdfast.workflow.list_items import get_item, list_items, living_base
from holdfast.workflow.overview import Overview, failures, is_going_on, overview, tally
from holdfast.workflow.progress import progress
from holdfast.workflow.queue import Queue, queue
from holdfast.workflow.recover import dismiss, recover
from holdfast.workflow.reindex_items import Reindexed, reindex_items
from holdfast.workflow.restore_base import Restored, restore_base
from holdfast.workflow.search import Question, SearchAnswer, search
from holdfast.workflow.stats import Stats, stats
from holdfast.workflow.update_item import Change, update_item

Bases = Base | str
Items = Item | str
UNSET: Any = object()
LONGEST_WAIT = 3_600.0


class Holdfast:
    """An open data folder."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._kb = engine.kb

    @classmethod
    def open(
        cls,
        folder: str | PathLike[str],
        *,
        run: bool = True,
        read_only: bool = False,
        config: str | PathLike[str] | None = None,
        **settings: Any,
    ) -> Holdfast:
        """Own a data folder (made when absent), or read it beside its owner.

        With `run=False` nothing runs by itself: see `drain`. Settings come from holdfast.toml in
        the folder, or from the file named by `config`, and from the environment. Raises Unavailable
        (`owned`) when another process owns it, InvalidInput for a setting that is not one.
        """
        file = None if config is None else Path(config)
        engine = open_engine(
            Path(folder), run=run, read_only=read_only, config=file, given=settings
        )
        try:
            if not read_only:
                engine.start()
        except BaseException:
            engine.close()
            raise
        return cls(engine)

    def close(self) -> None:
        """Stop at the next boundary; unfinished work goes on at the next open."""
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def settings(self) -> Settings:
        """What this installation was opened with."""
        return self._kb.settings

    # --- bases ---------------------------------------------------------------------------------

    def create_base(
        self, name: str, *, embedding_model: str | None = UNSET, **settings: Any
    ) -> Base:
        """A new base. Without a model (None, or no default set) it is searched by keywords."""
        given = embedding_model is not UNSET
        model = embedding_model if given else self._kb.settings.default_embedding_model
        if model is not None:
            may_name_model(model)
        if model is not None and "dimensions" not in settings:
            settings["dimensions"] = self._kb.embedders.width(model)
        settings.setdefault("search_mode", "hybrid" if model else "keyword")
        try:
            wanted = BaseSettings(name=name, embedding_model=model, **settings)
        except TypeError as error:
            raise InvalidInput(f"a base has no such setting: {error}") from error
        return create_base(self._kb, wanted)

    def bases(self) -> list[Base]:
        with self._kb.main.read() as snapshot:
            return snapshot.bases()

    def base(self, name_or_id: Bases) -> Base:
        """The base of this id or, if only one bears it, of this name."""
        wanted = _id(name_or_id)
        with self._kb.main.read() as snapshot:
            named = snapshot.bases_named(wanted)
            if len(named) > 1:
                ids = ", ".join(base.id for base in named)
                raise InvalidInput(f"{len(named)} bases are named {wanted!r}: {ids}; give an id")
            return named[0] if named else living_base(snapshot, BaseId(wanted))

    def overview(self, base: Bases) -> Overview:
        """A base in numbers: items by status, chunks, bytes, percent."""
        return overview(self._kb, self.base(base).id)

    def update_base(self, base: Bases, **changes: Any) -> Base:
        return update_base(self._kb, self.base(base).id, changes)

    def delete_base(self, base: Bases) -> None:
        delete_base(self._kb, self.base(base).id)

    def restore_base(self, base: Bases, **changes: Any) -> Restored:
        """A new base from another's roots, with its settings but for these changes.

        The other one may be failed, and stays as it is. What is stored is not fetched again; roots
        whose source is gone are counted in `.missing`.
        """
        return restore_base(self._kb, self.base(base).id, changes)

    def pause(self, base: Bases) -> Base:
        return set_paused(self._kb, self.base(base).id, paused=True)

    def resume(self, base: Bases) -> Base:
        return set_paused(self._kb, self.base(base).id, paused=False)

    # --- items ---------------------------------------------------------------------------------

    def add(
        self,
        base: Bases,
        inputs: Input | str | Sequence[Input | str],
        *,
        idempotency_key: str | None = None,
    ) -> Added:
        """Accept inputs durably; those that cannot be accepted come back in `.failed`."""
        return add_items(self._kb, self.base(base).id, _listed(inputs), idempotency_key)

    def item(self, item: Items) -> Item:
        return get_item(self._kb, ItemId(_id(item)))

    def find(self, text: str, *, base: Bases | None = None) -> Item:
        """The one item a person means by an id, an end of an id, a path or a name."""
        inside = None if base is None else self.base(base).id
        found = find_item(self._kb, text, inside)
        return get_item(self._kb, found.id)

    def roots_at(self, base: Bases, paths: Sequence[str]) -> dict[str, Item]:
        """Of these paths those that were added before, each with its item."""
        return roots_at(self._kb, self.base(base).id, paths)

    def items(
        self,
        base: Bases,
        *,
        parent: Items | None = None,
        status: Status | str | None = None,
        include_deleting: bool = False,
        cursor: str | None = None,
        limit: int = 100,
    ) -> Page[Item]:
        """The roots of a base, the children of an item, or with parent="*" everything."""
        everywhere = parent == "*"
        inside = None if parent is None or everywhere else ItemId(_id(parent))
        return list_items(
            self._kb,
            Listing(
                base=self.base(base).id,
                parent=inside,
                everywhere=everywhere,
                statuses=_statuses(status),
                include_deleting=include_deleting or status == Status.DELETING,
                cursor=cursor,
                limit=limit,
            ),
        )

    def update(
        self,
        item: Items,
        *,
        content: str | bytes | None = None,
        url: str | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> Item:
        """New content or a new address starts a new attempt; an equal one changes nothing."""
        return update_item(self._kb, ItemId(_id(item)), Change(content, url, attributes))

    def delete(self, items: Items | Sequence[Items]) -> list[ItemId]:
        """Hidden from every answer when this returns; the roots of what will be gone."""
        ids = _ids(items)
        return delete_items(self._kb, self._one_base(ids), ids) if ids else []

    def reindex(
        self, items: Items | Sequence[Items], *, skip_active: bool = False, force: bool = False
    ) -> Reindexed:
        """Read settled items again; vectors of equal texts are reused unless forced."""
        ids = _ids(items)
        if not ids:
            return Reindexed((), ())
        base = self._one_base(ids)
        return reindex_items(self._kb, base, ids, skip_active=skip_active, force=force)

    def chunks(
        self, item: Items, *, cursor: str | None = None, limit: int = 100
    ) -> Page[ChunkView]:
        return list_chunks(self._kb, ItemId(_id(item)), cursor, limit)

    def search(
        self,
        query: str,
        *,
        bases: Bases | Sequence[Bases] | None = None,
        top_k: int | None = None,
        mode: Literal["hybrid", "vector", "keyword"] | None = None,
        threshold: float | None = None,
        filter: Mapping[str, Any] | None = None,  # noqa: A002  (its name at every door)
        rerank: bool | None = None,
        neighbors: int = 0,
    ) -> SearchAnswer:
        """The passages that answer, best first; of all bases when none is named.

        `rerank` is what the bases have, unless said; `neighbors` adds the passages around a hit.
        """
        asked = self.bases() if bases is None else [self.base(one) for one in _listed(bases)]
        ids = tuple(base.id for base in asked)
        wanted = None if filter is None else parsed(filter)
        question = Question(query, ids, top_k, mode, wanted, threshold, neighbors, rerank)
        return search(self._kb, question)

    # --- work ----------------------------------------------------------------------------------

    def wait(self, items: Items | Sequence[Items], *, timeout: float | None = None) -> list[Item]:
        """Until each has settled or is gone; those still there. Raises TimedOut, work goes on."""
        may_wait(timeout)
        ids = _ids(items)
        deadline = None if timeout is None else self._kb.clock.mono() + timeout
        seen = self._engine.bells.changes
        while left := self._unsettled(ids):
            rest = LONGEST_WAIT if deadline is None else deadline - self._kb.clock.mono()
            if rest <= 0:
                raise TimedOut(f"{len(left)} of {len(ids)} items are not done after {timeout} s")
            seen = self._engine.bells.wait_for_change(seen, min(rest, self._patience()))
        with self._kb.main.read() as snapshot:
            return [item for item in snapshot.items(ids) if not item.deleting]

    def drain(
        self,
        timeout: float | None = None,
        *,
        due_only: bool = False,
        lanes: Collection[Lane] = tuple(Lane),
    ) -> None:
        """Run everything that is due, and without `due_only` what will be, in this thread.

        Raises TimedOut when work is left after `timeout` seconds; what runs is never broken off.
        """
        may_wait(timeout)
        drain(self._engine, timeout, due_only=due_only, lanes=lanes)

    def tally(self, items: Items | Sequence[Items]) -> Tally:
        """How the leaves of these items stand: done, failed, chunks, workload."""
        return tally(self._kb, _ids(items))

    def failures(self, items: Items | Sequence[Items], *, limit: int = 100) -> list[Item]:
        """What failed in or below these items."""
        return failures(self._kb, _ids(items), limit)

    def unsettled(self, items: Items | Sequence[Items]) -> list[ItemId]:
        """Of these items those that have work left."""
        return self._unsettled(_ids(items))

    def is_going_on(self, *, delayed: bool = False) -> bool:
        """Is anything running, or could start now (with `delayed`: later, by itself)?"""
        return is_going_on(self._kb, delayed=delayed)

    def progress(self, item: Items) -> Progress:
        return progress(self._kb, ItemId(_id(item)))

    def queue(self, base: Bases | None = None) -> Queue:
        return queue(self._kb, None if base is None else self.base(base).id)

    def recover(self, base: Bases, items: Sequence[Items] | None = None) -> list[ItemId]:
        """Unfinished tasks go on."""
        return recover(self._kb, self.base(base).id, None if items is None else _ids(items))

    def dismiss(self, base: Bases, items: Sequence[Items] | None = None) -> list[ItemId]:
        """Unfinished tasks are given up: their items fail with `interrupted`."""
        return dismiss(self._kb, self.base(base).id, None if items is None else _ids(items))

    def explain(self, item: Items) -> Explanation:
        """Why it waits."""
        return explain(self._kb, ItemId(_id(item)))

    def history(self, item: Items) -> list[Event]:
        return history(self._kb, ItemId(_id(item)))

    def events(self, after: int | None = None, base: Bases | None = None) -> Iterator[Event]:
        """The ledger after an event, up to now."""
        last, inside = 0 if after is None else after, None if base is None else self.base(base).id
        while page := events(self._kb, last, inside):
            yield from page
            last = page[-1].id

    def stats(self) -> Stats:
        return stats(self._kb)

    def doctor(self, *, repair: bool = False) -> list[Finding]:
        """Every disagreement found; with `repair` those that are left."""
        return doctor(self._kb, repair=repair)

    def _one_base(self, ids: Sequence[ItemId]) -> BaseId:
        with self._kb.main.read() as snapshot:
            found = {item.id: item.base_id for item in snapshot.items(ids)}
        unknown = [one for one in ids if one not in found]
        if unknown:
            raise NotFound(f"there is no item {', '.join(unknown[:10])}")
        bases = sorted(set(found.values()))
        if len(bases) > 1:
            raise GuardRejected(f"the items are of {len(bases)} bases", code="mixed_bases")
        return bases[0]

    def _unsettled(self, ids: Sequence[ItemId]) -> list[ItemId]:
        with self._kb.main.read() as snapshot:
            return snapshot.unsettled(ids)

    def _patience(self) -> float:
        """Beside another owner no bell of ours rings: look again from time to time."""
        return LONGEST_WAIT if self._engine.runner is not None else 0.2


def _id(given: Base | Item | str) -> str:
    if isinstance(given, Base | Item):
        return given.id
    other: object = given
    if not is_text(other) or not other:
        raise InvalidInput(f"{given!r} is neither an object of this library nor an id")
    return other


def _ids(given: Items | Sequence[Items]) -> list[ItemId]:
    return [ItemId(_id(one)) for one in _listed(given)]


def _listed(given: Any) -> list[Any]:
    """One thing, or many."""
    many = isinstance(given, Sequence) and not isinstance(given, str | bytes)
    return list(given) if many else [given]


def _statuses(word: Status | str | None) -> frozenset[Status] | None:
    if word is None:
        return None
    found = statuses_named(word) if is_text(word) else None
    if not found:
        accepted = " | ".join(Status)
        raise InvalidInput(f"status is {word!r}; it takes {accepted}")
    return found
