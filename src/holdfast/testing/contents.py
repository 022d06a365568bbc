"""What do the users of a simulated world write? Little texts that say whose they are.

Each version of each text holds one sentence of its own, so that an answer can be traced to the
version it came from, and sentences it shares with others, so that vectors are shared and collected.
"""

from __future__ import annotations

from functools import lru_cache

from holdfast.domain.bases import BaseSettings
from holdfast.domain.chunks import Seal, Segment, cutting_of, digest_of
from holdfast.stages.chunking.structured import chunks_of
from holdfast.stages.reading.parsed import MARKDOWN

SHARED = (
    "the red pump stands beside the old mill and hums all night",
    "every valve is opened by hand before the first frost comes",
    "a letter from the harbour says that the ships are late again",
    "nobody had counted the apples since the end of the summer",
    "the clock on the tower is slow by a quarter of an hour",
)
MOST_SENTENCES = 5
WHITE = 17


def content_of(number: int, choice: int) -> str:
    """The text with this number: its own sentence among a few shared ones; rarely nothing."""
    if choice % WHITE == 0:
        return "  \n"
    own = f"sentence v{number}v belongs to one version of one text only"
    shared = [SHARED[(choice >> 3 * n) % len(SHARED)] for n in range(choice % MOST_SENTENCES)]
    place = (choice >> 20) % (len(shared) + 1)
    return ".\n\n".join([*shared[:place], own, *shared[place:]]) + ".\n"


@lru_cache(maxsize=4_096)
def seal_of(content: str, settings: BaseSettings) -> Seal:
    """What a build of this text must be sealed as."""
    cut = chunks_of([Segment(content)], cutting_of(settings), MARKDOWN)
    return digest_of(chunk.hash for chunk in cut)
