"""Do many small items keep a model busy, and are its calls full?

`python -m bench throughput`, about a minute. A stub model takes 20 ms for a call of any size. What
it could do is the fewest calls that hold all texts, made side by side as the settings allow; the
`share` is how near the engine comes to that, `calls/fewest` how many calls it made for each of the
fewest. Where our own reading, writing and publishing take longer than the model, the share tells of
those: beside it stands what the engine does with a model that costs nothing.
"""

from __future__ import annotations

import time
from math import ceil
from typing import Any
from unittest.mock import patch

from bench._figures import SlowModel, caveat, folder, opened, text_of
from holdfast import Note
from holdfast.domain.errors import Permanent
from holdfast.interfaces.library import Holdfast

NAME = "throughput"
ITEMS, CALL, WORDS = 5_000, 0.02, 12
# texts in a call, calls at once, slots of the base
CASES = ((8, 1, 2), (8, 2, 4), (16, 1, 2), (16, 2, 4), (64, 1, 2), (128, 3, 2))


def run(*, large: bool = False) -> None:
    caveat()
    free = ITEMS / fill(0.0, 128, 3, 2)[0]
    print(f"\n{ITEMS:,} notes in one base; with a model that costs nothing {free:,.0f} a second")
    print("  texts a call  calls at once  slots   possible/s   done/s   share   calls/fewest")
    for batch, at_once, slots in CASES:
        told(batch, at_once, slots)
    print(poison())
    caveat()


def told(batch: int, at_once: int, slots: int) -> None:
    seconds, calls = fill(CALL, batch, at_once, slots)
    fewest = ceil(ITEMS / batch)
    possible = ceil(fewest / at_once) * CALL
    print(
        f"  {batch:12}  {at_once:13}  {slots:5}   {ITEMS / possible:10,.0f}"
        f"   {ITEMS / seconds:6,.0f}   {possible / seconds:5.1%}   {calls / fewest:12.3f}"
    )


def fill(call: float, batch: int, at_once: int, slots: int) -> tuple[float, int]:
    """Seconds from the start of the work until all is found, and the calls it took."""
    limits = {"embedding_concurrency": at_once, "batch_size": batch}
    lanes = {"per_base_concurrency": slots, "global_concurrency": slots}
    with folder() as path, opened(path, **limits, **lanes) as kb:
        base = kb.create_base("b", embedding_model=f"stub/{call * 1_000:.0f}", dimensions=384)
        kb.pause(base)
        for start in range(0, ITEMS, 1_000):
            kb.add(base, [Note(text_of(n, words=WORDS)) for n in range(start, start + 1_000)])
        began = time.perf_counter()
        kb.resume(base)
        until_done(kb)
        return time.perf_counter() - began, kb.stats().model_calls


def until_done(kb: Holdfast) -> None:
    while (left := kb.queue()).queue_size or left.processing_count:
        time.sleep(0.005)


def poison() -> str:
    """One text that is refused, in batches shared with a thousand others."""
    whole = SlowModel.embed

    def refusing(self: SlowModel, texts: list[str]) -> Any:
        if any("poison" in text for text in texts):
            raise Permanent("refused", code="provider_failed")
        return whole(self, texts)

    with folder() as path, patch.object(SlowModel, "embed", refusing), opened(path) as kb:
        base = kb.create_base("b", embedding_model="stub/1", dimensions=384)
        notes = [Note("poison" if n == 500 else text_of(n, words=WORDS)) for n in range(1_000)]
        created = kb.add(base, notes).created
        ended = [item.status for item in kb.wait(created, timeout=120)]
    failed, completed = ended.count("failed"), ended.count("completed")
    return f"\npoison in a shared batch: {failed} failed, {completed} completed"
