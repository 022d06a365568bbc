"""How does text become the words that are kept and looked for?

Both index stores, and the highlights of an answer, cut text here, so that they agree on every
script. Letters are folded (width, case, accents). Scripts written without spaces are cut into
overlapping pairs, and each run ends with its last character alone:

    "在中国 Straße"  ->  在中 中国 国 strasse

A run that is looked for is then a phrase of pairs, and a single character is the beginning of a
pair; the lone last character makes every character the beginning of something, and keeps a
phrase from reaching across two runs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from operator import add

MAX_WORD = 64
MAX_TERMS = 64
LONG_RUN = 4

# Thai, Lao, Tibetan, Myanmar, Hangul, Khmer, kana, Han and their extensions
PAIRED = (
    "\u0e00-\u0e3a\u0e40-\u0e4e\u0e80-\u0ebd\u0ec0-\u0ecd\u0f40-\u0fbc\u1000-\u1049\u1050-\u109f"
    "\u1100-\u11ff\u1780-\u17d3\u3005-\u3007\u3021-\u3029\u3031-\u3035\u303b\u3041-\u3096"
    "\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf"
    "\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb\uf900-\ufaff"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
# vowel signs belong to their word, though Unicode does not call them letters
SIGNS = "\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0980-\u0d7f\u200c\u200d"

_WORD = rf"[^\W_{PAIRED}]"
_PIECES = re.compile(rf"[{PAIRED}]+|{_WORD}+(?:[{SIGNS}]+{_WORD}*)*")
_ASCII_WORDS = re.compile(r"[0-9a-z]+")
_MAY_BEAR_ACCENTS = re.compile("[\u00c0-\u052f\u1e00-\u1fff]")
_ACCENTS = re.compile("[\u0300-\u036f]")
_PAIRED_START = re.compile(rf"[{PAIRED}]")


@dataclass(frozen=True, slots=True)
class Term:
    """What a query looks for: words that stand in a row; the last may be a beginning only."""

    words: tuple[str, ...]
    prefix: bool = False


def folded(text: str) -> str:
    """The text with width, case and accents folded away."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", text).casefold()
    if _MAY_BEAR_ACCENTS.search(text):
        bare = _ACCENTS.sub("", unicodedata.normalize("NFD", text))
        return unicodedata.normalize("NFC", bare)
    return text


def words_of(text: str) -> list[str]:
    """The words a text is kept under, in order."""
    text = folded(text)
    if text.isascii():
        return _cut_long(_ASCII_WORDS.findall(text))
    found: list[str] = []
    for piece in _PIECES.findall(text):
        found.extend(_pairs_and_last(piece) if is_paired(piece) else _cut(piece))
    return found


def terms_of(query: str) -> list[Term]:
    """What any string asks for; nothing when it holds no letter and no digit."""
    unique: dict[Term, None] = {}
    for term in _terms(query):
        unique.setdefault(term)
        if len(unique) == MAX_TERMS:
            break
    return list(unique)


def is_paired(piece: str) -> bool:
    """Is this piece of a script that is cut into pairs?"""
    return _PAIRED_START.match(piece) is not None


def pieces_of(query: str) -> list[str]:
    """The folded words and unspaced runs of a query, as a reader would mark them in a text."""
    return list(dict.fromkeys(_PIECES.findall(folded(query))))


def pairs(run: str) -> tuple[str, ...]:
    """The overlapping pairs of a run of at least two characters."""
    return tuple(map(add, run, run[1:]))


def _terms(query: str) -> Iterator[Term]:
    for piece in _PIECES.findall(folded(query)):
        if not is_paired(piece):
            yield from (Term((word,)) for word in _cut(piece))
        elif len(piece) == 1:
            yield Term((piece,), prefix=True)
        else:
            yield from _run_terms(piece)


def _run_terms(run: str) -> Iterator[Term]:
    """The phrase; a run longer than a word is a sentence, and its pairs count on their own too."""
    in_a_row = pairs(run)
    yield Term(in_a_row[:MAX_TERMS])
    if len(run) > LONG_RUN:
        yield from (Term((pair,)) for pair in in_a_row)


def _pairs_and_last(run: str) -> list[str]:
    return [*pairs(run), run[-1]]


def _cut_long(words: list[str]) -> list[str]:
    if max(map(len, words), default=0) <= MAX_WORD:
        return words
    return [part for word in words for part in _cut(word)]


def _cut(word: str) -> list[str]:
    """Pieces of at most 64 characters: a word of megabytes is data, not language."""
    if len(word) <= MAX_WORD:
        return [word]
    return [word[start : start + MAX_WORD] for start in range(0, len(word), MAX_WORD)]
