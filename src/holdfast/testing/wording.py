"""Which words do sample documents hold? Nine sentences whose fifth stands in the middle."""

from __future__ import annotations

ENGLISH = "The {0} valve of the {1} boiler is opened by turning the brass wheel twice."
CHINESE = "{0}号锅炉的{1}阀门需要把黄铜手轮旋转两圈才能打开。"
JAPANESE = "{0}号ボイラーの{1}弁は真鍮のハンドルを二回まわすと開きます。"
WESTERN = "Die {0} Prüfung des {1} Kessels dauert fünf Minuten, sagt der Müller über die Straße."
COLOURS = ("amber", "cobalt", "crimson", "emerald", "indigo", "ochre", "russet", "teal", "violet")


def sentences(pattern: str = ENGLISH) -> list[str]:
    """Nine sentences; the fifth is the middle."""
    return [pattern.format(colour, number) for number, colour in enumerate(COLOURS, 1)]


def texts(pattern: str = ENGLISH) -> tuple[str, str]:
    """A text of some length, and the phrase in the middle of it."""
    found = sentences(pattern)
    return "\n\n".join(found) + "\n", found[4]


def chapters(pattern: str = ENGLISH) -> list[tuple[str, list[str]]]:
    """Three headings with three paragraphs each."""
    found = sentences(pattern)
    return [(f"Chapter {n + 1} about {COLOURS[n]}", found[n * 3 : n * 3 + 3]) for n in range(3)]


def of(word: str, pattern: str = ENGLISH) -> str:
    """The sentences of one document alone: a search shows equal texts once."""
    return pattern.replace("{0}", "{0} " + word)


def middle(pattern: str) -> str:
    """The sentence in the middle of a document."""
    return sentences(pattern)[4]


HEADING = "Chapter 2 about cobalt"
