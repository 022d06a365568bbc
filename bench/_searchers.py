"""Who searches while others write, and what may never be in an answer?

A word stands in the old and in every new version of an item that is written again and again. No
answer may miss it, and none may show two versions of the item at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bench._figures import text_of
from holdfast.domain.answers import Hit
from holdfast.domain.bases import Base
from holdfast.domain.errors import Conflict, TimedOut
from holdfast.domain.items import Item
from holdfast.interfaces.library import Holdfast
from holdfast.stages.embedding.hash_model import HashEmbedder

WORD, PARTS = "keystone", 6
MODES: tuple[Literal["keyword"], Literal["hybrid"]] = ("keyword", "hybrid")


@dataclass(slots=True)
class Seen:
    """What all searchers saw together."""

    answers: int = 0
    empty: int = 0
    torn: int = 0
    seconds: list[float] = field(default_factory=list[float])
    versions: set[str] = field(default_factory=set[str])

    def look(self, hits: Sequence[Hit], took: float) -> None:
        versions = {version_of(text) for hit in hits for text in texts_of(hit) if WORD in text}
        self.answers += 1
        self.empty += not versions
        self.torn += len(versions) > 1
        self.versions |= versions
        self.seconds.append(took)


class BusyModel(HashEmbedder):
    """A model that keeps the interpreter as busy as one written in Python."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        until, total = time.thread_time() + 0.002 * len(texts), 0
        while time.thread_time() < until:
            total += sum(range(200))
        return super().embed(texts)


def busy(name: str, _dimensions: int) -> BusyModel:
    """`busy/384`."""
    return BusyModel(int(name))


def texts_of(hit: Hit) -> list[str]:
    return [hit.content, *(near.content for near in hit.neighbors)]


def version_of(text: str) -> str:
    return text.partition("version")[2].split()[0]


def versioned(number: int) -> str:
    """Several chunks, each with the word and with the number of its version."""
    parts = (f"{WORD} version v{number} part {n} {text_of(n, 40)}" for n in range(PARTS))
    return "\n\n".join(parts)


def search_beside(kb: Holdfast, base: Base, item: Item, *, searchers: int, seconds: float) -> Seen:
    """Search for the word while its item is written again."""
    seen, stop = Seen(), threading.Event()
    lock = threading.Lock()

    def ask() -> None:
        for number in count():
            if stop.is_set():
                return
            began = time.perf_counter()
            answer = kb.search(
                WORD, bases=[base], top_k=PARTS, mode=MODES[number % 2], neighbors=number % 3
            )
            took = time.perf_counter() - began
            with lock:
                seen.look(answer.hits, took)

    acts: list[Callable[[], None]] = [ask] * searchers
    acts.append(lambda: _write_again(kb, item, stop))
    threads = [threading.Thread(target=act, daemon=True) for act in acts]
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    stop.set()
    for thread in threads:
        thread.join(60)
    return seen


def _write_again(kb: Holdfast, item: Item, stop: threading.Event) -> None:
    """New content, and now and then a re-index of the same content."""
    for number in count(1):
        if stop.is_set():
            return
        if number % 4:
            kb.update(item, content=versioned(number))
        else:
            with suppress(Conflict):
                kb.reindex(item)
        with suppress(TimedOut):  # behind a backlog it takes its time; nobody waits for it
            kb.wait(item, timeout=5)
