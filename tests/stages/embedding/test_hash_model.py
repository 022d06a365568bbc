"""The model without weights: near when words are shared, the same everywhere, never useless."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.stages.embedding.hash_model import HashEmbedder

MODEL = HashEmbedder(64)
EXPECTED = [0.0, 0.0, 0.0, -0.30335, 0.7367, -0.58502, 0.0, 0.15167]


def alike(one: str, other: str) -> float:
    first, second = HashEmbedder(384).embed([one, other])
    return float(first @ second)


def test_texts_that_share_words_are_near() -> None:
    assert alike("the cat sits on the mat", "a cat on a mat") > 0.4
    assert alike("the cat sits on the mat", "quarterly revenue rose") < 0.2


def test_forms_of_a_word_are_nearer_than_strangers() -> None:
    assert alike("indexing", "indexes") > alike("indexing", "weather") + 0.2


def test_chinese_texts_that_share_words_are_near() -> None:
    assert alike("北京大学的校长", "北京大学很大") > 0.3
    assert alike("北京大学的校长", "今天天气很好") < 0.2


def test_numbers_never_change() -> None:
    (row,) = HashEmbedder(8).embed(["Straße 国"])

    assert row.dtype == np.float32
    assert row.tolist() == pytest.approx(EXPECTED, abs=1e-5)


def test_a_text_s_vector_does_not_depend_on_its_batch() -> None:
    texts = ["one text", "zwei Wörter", "三个字", "", "😀"]

    together = MODEL.embed(texts)

    assert together.tolist() == [MODEL.embed([text])[0].tolist() for text in texts]


@settings(max_examples=200, deadline=None)
@given(texts=st.lists(st.text(), max_size=8))
def test_every_answer_has_length_one(texts: list[str]) -> None:
    rows = MODEL.embed(texts)

    assert rows.shape == (len(texts), 64)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(len(texts)), abs=1e-5)


@pytest.mark.parametrize("odd", ["\ud800", "\x00", " \n ", "\n", "😀", "a\nb"])
def test_odd_texts_are_texts(odd: str) -> None:
    assert MODEL.embed([odd, "beside"])[1].tolist() == MODEL.embed(["beside"])[0].tolist()


def test_a_width_of_one_works() -> None:
    assert abs(HashEmbedder(1).embed(["a"])).tolist() == [[1.0]]
