"""In which script is a question written? It decides which of two models is listened to."""

from __future__ import annotations

from unicodedata import name

MOSTLY = 0.75  # a few Latin names in a Chinese question do not make it English


def is_latin(text: str) -> bool:
    """Are nearly all its letters Latin? So are texts without letters."""
    letters = [letter for letter in text if letter.isalpha()]
    latin = sum(letter.isascii() or name(letter, "").startswith("LATIN") for letter in letters)
    return latin >= MOSTLY * len(letters)
