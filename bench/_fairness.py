"""How long does a small base take beside a big one? And what becomes of a note that never rests?"""

from __future__ import annotations

import time
from statistics import median

from bench._figures import folder, opened, text_of
from holdfast import Note
from holdfast.domain.bases import Base
from holdfast.interfaces.library import Holdfast

BIG, SMALL, BACKLOG, VERSIONS = 10_000, 10, 5_000, 30
PATIENCE = 600.0


def fairness() -> None:
    print(f"\nfairness: base A with {BIG:,} notes, then base B with {SMALL} (target ratio <= 2)")
    for model, what in (("hash/384", "hash model, CPU-bound"), ("stub/20", "stub, 20 ms a call")):
        alone, beside, left = alone_and_beside(model)
        print(
            f"  {what:24} B alone {median(alone) * 1e3:7.1f} ms   beside A "
            f"{median(beside) * 1e3:7.1f} ms   ratio {median(beside) / median(alone):5.2f}"
            f"   (medians of {len(alone)} and {len(beside)}; {left:,} of A were left)"
        )


def alone_and_beside(model: str, repeats: int = 7) -> tuple[list[float], list[float], int]:
    with folder() as path, opened(path) as kb:
        alone = [time_of_small(kb, model, number) for number in range(repeats)]
    with folder() as path, opened(path) as kb:
        big = kb.create_base("A", embedding_model=model, **width(model))
        kb.pause(big)
        fill(kb, big, BIG)
        kb.resume(big)
        until_running(kb, big)
        beside = [time_of_small(kb, model, 100 + number) for number in range(repeats)]
        return alone, beside, kb.queue(big).queue_size


def time_of_small(kb: Holdfast, model: str, number: int) -> float:
    """From the answer to `add` until all are indexed."""
    base = kb.create_base(f"B{number}", embedding_model=model, **width(model))
    notes = [Note(text_of(1_000_000 + number * SMALL + n)) for n in range(SMALL)]
    began = time.perf_counter()
    created = kb.add(base, notes).created
    settled = kb.wait(created, timeout=PATIENCE)
    spent = time.perf_counter() - began
    assert [item.status for item in settled] == ["completed"] * SMALL
    return spent


def restless() -> None:
    print(f"\na note updated every second behind {BACKLOG:,} others (stub of 100 ms a call)")
    with folder() as path, opened(path) as kb:
        base = kb.create_base("b", embedding_model="stub/100", **width("stub/100"))
        kb.pause(base)
        fill(kb, base, BACKLOG)
        (note,) = kb.add(base, Note("version 0")).created
        kb.resume(base)
        updated: dict[int, float] = {1: time.perf_counter()}
        seen: dict[int, float] = {}
        for version in range(1, VERSIONS + 1):
            watch(kb, note.id, seen, seconds=1.0)
            newer = kb.update(note, content=f"version {version}")
            updated[newer.generation] = time.perf_counter()
        watch(kb, note.id, seen, seconds=15.0)
        for generation, at in sorted(updated.items()):
            when = seen.get(generation)
            word = (
                "passed over by a newer one" if when is None else f"found after {when - at:.1f} s"
            )
            print(f"  generation {generation:3}: {word}")
        print(f"  {kb.queue(base).queue_size} jobs left at the end")


def watch(kb: Holdfast, item: str, seen: dict[int, float], seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        generation = kb.item(item).published_generation
        if generation is not None:
            seen.setdefault(generation, time.perf_counter())
        time.sleep(0.02)


def fill(kb: Holdfast, base: Base, count: int) -> None:
    for start in range(0, count, 1_000):
        kb.add(base, [Note(text_of(start + n)) for n in range(min(1_000, count - start))])


def until_running(kb: Holdfast, base: Base) -> None:
    while not kb.queue(base).processing_count:
        time.sleep(0.01)


def width(model: str) -> dict[str, int]:
    return {"dimensions": 384} if model.startswith("stub/") else {}
