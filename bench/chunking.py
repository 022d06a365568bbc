"""How fast is a text cut, and how many chunks are new after an edit?"""

from __future__ import annotations

import time
from collections import Counter
from random import Random

from holdfast.domain.chunks import Cutting, Segment
from holdfast.stages.chunking.structured import chunks_of

PARAGRAPHS, LARGE, EDITS = 4_000, 40_000, 500
BLOCK = 1 << 18
MAKER = Random(0)
WORDS = ["".join(MAKER.choices("abcdefghij", k=MAKER.randint(2, 9))) for _ in range(20_000)]
CUTTINGS = (
    Cutting(512, 64),
    Cutting(254, 31, tokenizer="minilm"),
    Cutting(254, 31, tokenizer="use"),
)


def run(*, large: bool = False) -> None:
    text = "\n\n".join(paragraphs(Random(1), LARGE if large else PARAGRAPHS))
    segments = [Segment(text[at : at + BLOCK]) for at in range(0, len(text), BLOCK)]
    print(f"cutting {len(text) / 1e6:.1f} MB of Markdown (target 2 MB a second of one core)")
    for cutting in CUTTINGS:
        list(chunks_of(segments[:1], cutting, "markdown"))  # the counter is loaded
        began = time.process_time()
        count = sum(1 for _ in chunks_of(segments, cutting, "markdown"))
        speed = len(text) / (time.process_time() - began) / 1e6
        print(f"  {cutting.tokenizer or 'estimate':9} {speed:6.1f} MB/s, {count:,} chunks")
    print(f"chunks that are new after an edit of one paragraph of 30 ({EDITS:,} edits; target 3)")
    for size, overlap in ((512, 64), (254, 31)):
        print(f"  of {size} tokens: {told(edits(Cutting(size, overlap)))}")


def edits(cutting: Cutting) -> Counter[int]:
    """How often so many chunks were new."""
    found: Counter[int] = Counter()
    for number in range(EDITS):
        draw = Random(number)
        before = paragraphs(draw, 30)
        after, place = list(before), draw.randrange(30)
        after[place] = draw.choice((paragraphs(draw, 1)[0], f"{before[place]} {sentence(draw)}"))
        found[len(texts(after, cutting) - texts(before, cutting))] += 1
    return found


def told(counts: Counter[int]) -> str:
    return ", ".join(f"{times} times {new}" for new, times in sorted(counts.items()))


def texts(parts: list[str], cutting: Cutting) -> set[str]:
    return {chunk.text for chunk in chunks_of([Segment("\n\n".join(parts))], cutting, "plain")}


def paragraphs(draw: Random, number: int) -> list[str]:
    return [" ".join(sentence(draw) for _ in range(draw.randint(1, 5))) for _ in range(number)]


def sentence(draw: Random) -> str:
    return " ".join(draw.choices(WORDS, k=12)).capitalize() + "."
