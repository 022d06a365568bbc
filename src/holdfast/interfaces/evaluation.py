"""How well does search find what is known to answer? A collection is indexed and asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from holdfast.domain.bases import Base
from holdfast.domain.guards import MAX_INPUTS
from holdfast.domain.ids import ItemId
from holdfast.domain.items import Note
from holdfast.domain.quality import DEPTH, Quality, quality
from holdfast.interfaces.collection import Collection
from holdfast.interfaces.library import Holdfast
from holdfast.machine.cache import scratch

Mode = Literal["hybrid", "vector", "keyword"]
MODES: tuple[Mode, ...] = ("hybrid", "vector", "keyword")
PATIENCE = 3_600.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """One way of searching, and how good it is."""

    mode: str
    quality: Quality


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What was asked of what, and the verdicts."""

    model: str | None
    documents: int
    passages: int
    questions: int
    verdicts: tuple[Verdict, ...]


def evaluate(
    asked: Collection, base_settings: dict[str, Any], say: Callable[[str], None], **settings: Any
) -> Evaluation:
    """Indexed in a data folder of its own, which is gone afterwards."""
    with scratch() as folder, Holdfast.open(folder, **settings) as hf:
        base = hf.create_base("eval", **base_settings)
        say(f"Indexing {len(asked.documents):,} documents.")
        names = dict(_indexed(hf, base, asked))
        modes = MODES if base.settings.embedding_model else MODES[-1:]
        verdicts: list[Verdict] = []
        for mode in modes:
            say(f"Asking {len(asked.questions):,} questions: {mode}.")
            verdicts.append(Verdict(mode, _asked(hf, base, asked, names, mode)))
        passages = hf.overview(base).chunk_count
    model = base.settings.embedding_model
    counts = (len(asked.documents), passages, len(asked.questions))
    return Evaluation(model, *counts, tuple(verdicts))


def _indexed(hf: Holdfast, base: Base, asked: Collection) -> Iterator[tuple[ItemId, str]]:
    """Each document as a note; the item's id and the document's."""
    rest = iter(asked.documents.items())
    while page := list(islice(rest, MAX_INPUTS)):
        added = hf.add(base, [Note(text, title=name) for name, text in page])
        hf.wait(added.created, timeout=PATIENCE)
        for item in added.created:
            yield item.id, item.name


def _asked(
    hf: Holdfast, base: Base, asked: Collection, names: dict[ItemId, str], mode: Mode
) -> Quality:
    def ranking(question: str) -> list[str]:
        hits = hf.search(question, bases=[base], top_k=DEPTH, mode=mode).hits
        found = [names[item] for hit in hits for item in (hit.item_id, *hit.also)]
        return list(dict.fromkeys(found))

    return quality(
        (ranking(text), asked.grades[question]) for question, text in asked.questions.items()
    )
