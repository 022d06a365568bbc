"""How is a path of the user's told, and what is a child known by?

On Unix a name is bytes. The interpreter hands bytes that are no UTF-8 around as lone surrogates;
an item's data keep them so, because a file is opened with them. Everything that is shown or
compared goes through here.
"""

from __future__ import annotations

import unicodedata


def as_text(path: str) -> str:
    r"""A path as it can be shown: what is no text is written out (`caf\xe9.txt`)."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def key_of(name: str) -> str:
    """What a child is known by below its container, however its accents are composed."""
    return unicodedata.normalize("NFC", as_text(name))


def inside(folder: str, name: str) -> str:
    """The path of an entry of a folder."""
    return f"{folder.rstrip('/')}/{name}"
