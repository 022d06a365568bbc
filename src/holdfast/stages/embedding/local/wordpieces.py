"""How does MiniLM read a text? As word pieces: letters in lower case, each Han character alone."""

from __future__ import annotations

from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from holdfast.domain.errors import Permanent

if TYPE_CHECKING:
    from tokenizers import Tokenizer

VOCABULARY = "vocabulary.txt"
SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
UNKNOWN, BEGIN, END = "[UNK]", "[CLS]", "[SEP]"


def word_pieces() -> Tokenizer:
    """The tokenizer, with the marks of beginning and end and no limit."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer
    from tokenizers.processors import TemplateProcessing

    known = _vocabulary()
    tokenizer = Tokenizer(WordPiece(known, unk_token=UNKNOWN, max_input_chars_per_word=100))
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(
        single=f"{BEGIN} $A {END}", special_tokens=[(mark, known[mark]) for mark in (BEGIN, END)]
    )
    return tokenizer


def _vocabulary() -> dict[str, int]:
    content = (files(__package__) / VOCABULARY).read_bytes()
    if sha256(content).hexdigest() != SHA256:
        raise Permanent(f"{VOCABULARY} was changed", code="missing_embedding_model")
    return {piece: number for number, piece in enumerate(content.decode().splitlines())}
