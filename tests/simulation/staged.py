"""A stage for schedules told by hand: real stores, no threads, and something at any chosen call."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from holdfast.assembly import Engine, open_engine, runner_of
from holdfast.domain.bases import Base, BaseSettings
from holdfast.domain.ids import ItemId
from holdfast.domain.items import File, Item, Note
from holdfast.domain.jobs import Job, Lane
from holdfast.jobs.claim import Holder, claim
from holdfast.jobs.runner import Runner
from holdfast.stages.embedding.registry import Registry
from holdfast.workflow.add_items import add_items
from holdfast.workflow.bases import create_base
from holdfast.workflow.search import Question, search
from holdfast.workflow.update_item import Change, update_item
from holdfast.workflow.workbench import Workbench

MODEL, WIDTH = "hash/16", 16
Act = Callable[[], None]


class PowerOff(BaseException):
    """The process ends here; nothing in it may answer."""


@dataclass
class Between:
    """A port or store that lets something happen before or after a chosen call, once."""

    inner: Any
    before: dict[str, Act] = field(default_factory=dict)
    after: dict[str, Act] = field(default_factory=dict)

    def __getattr__(self, name: str) -> Any:
        call = getattr(self.inner, name)
        if not callable(call):
            return call

        def told(*given: Any, **named: Any) -> Any:
            self.before.pop(name, _nothing)()
            answer = call(*given, **named)
            self.after.pop(name, _nothing)()
            return answer

        return told


def _nothing() -> None:
    """Nobody is in between."""


@dataclass
class Counted:
    """The installation's models: every text that is sent is kept, and a call may be interrupted."""

    registry: Registry = field(default_factory=Registry)
    texts: list[str] = field(default_factory=list)
    on_call: Act = _nothing

    def resolve(self, model: str, dimensions: int) -> Any:
        return Asked(self, self.registry.resolve(model, dimensions))

    def width(self, model: str) -> int:
        return self.registry.width(model)


@dataclass
class Asked:
    """One model that tells of its calls."""

    models: Counted
    inner: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def embed(self, texts: Sequence[str]) -> Any:
        act, self.models.on_call = self.models.on_call, _nothing
        act()
        self.models.texts += texts
        return self.inner.embed(texts)

    def embed_query(self, query: str) -> Any:
        return self.embed([query])


class Stage:
    """One data folder and the life of the engine that has it now."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.models = Counted()
        self.engine: Engine
        self.kb: Workbench
        self.runner: Runner
        self.begin()

    def begin(self) -> None:
        """A new life: the production engine, with somebody in between."""
        self.engine = open_engine(self.folder, run=False)
        inner = self.engine.kb
        self.index, self.reader = Between(inner.index), Between(inner.reader)
        self.kb = replace(inner, index=self.index, reader=self.reader, embedders=self.models)
        self.engine.kb = self.kb
        self.engine.recover()
        self.runner = runner_of(self.kb, self.engine.bells)

    def die(self) -> None:
        """The process is gone: no goodbye, only what the operating system does."""
        self.kb.main.close()
        self.kb.index.close()
        assert self.engine.lock is not None
        self.engine.lock.close()

    def saved(self) -> Path:
        """What is on disk now, to come back to after a power cut."""
        copy = self.folder.with_name(f"{self.folder.name}-saved")
        shutil.copytree(self.folder, copy, dirs_exist_ok=True)
        return copy

    def base(self) -> Base:
        return create_base(self.kb, BaseSettings("b", embedding_model=MODEL, dimensions=WIDTH))

    def note(self, base: Base, text: str) -> Item:
        return add_items(self.kb, base.id, [Note(text)]).created[0]

    def file(self, base: Base, path: Path, text: str) -> Item:
        path.write_text(text)
        return add_items(self.kb, base.id, [File(str(path))]).created[0]

    def update(self, item: Item, text: str) -> None:
        update_item(self.kb, item.id, Change(content=text))

    def take(self, lane: Lane = Lane.INDEX) -> list[Job]:
        """The next claim of a lane, not yet run."""
        holder = Holder(self.kb.owner, self.kb.lease)
        return list(claim(self.kb.main, lane, self.runner.caps, holder).jobs)

    def work(self, lane: Lane = Lane.INDEX) -> None:
        """Run what is ready in a lane."""
        while self.runner.step(lane) is None:
            pass

    def found(self, base: Base, word: str) -> list[ItemId]:
        hits = search(self.kb, Question(word, (base.id,), mode="keyword")).hits
        return [hit.item_id for hit in hits]

    def item(self, item: Item) -> Item | None:
        with self.kb.main.read() as snapshot:
            return snapshot.item(item.id)

    def jobs(self, item: Item) -> list[Job]:
        with self.kb.main.read() as snapshot:
            return snapshot.jobs_of_item(item.id)
