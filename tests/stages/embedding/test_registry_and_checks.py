"""Which models there are, and which answers are refused."""

from __future__ import annotations

import numpy as np
import pytest

from holdfast.domain.errors import Permanent
from holdfast.stages.embedding.checks import checked
from holdfast.stages.embedding.hash_model import HashEmbedder
from holdfast.stages.embedding.registry import Registry


def test_a_hash_model_is_named_by_its_width() -> None:
    model = Registry().resolve("hash/32", 32)

    assert (model.name, model.width) == ("hash/32", 32)


def test_a_model_is_made_once() -> None:
    registry = Registry()

    assert registry.resolve("hash/32", 32) is registry.resolve("hash/32", 32)


def test_other_providers_can_be_added() -> None:
    registry = Registry({"mine": lambda _name, dimensions: HashEmbedder(dimensions)})

    assert registry.resolve("mine/any", 7).width == 7


@pytest.mark.parametrize(
    ("model", "dimensions", "words"),
    [
        ("hash/32", 64, "32 dimensions"),
        ("hash/none", 32, "hash/N"),
        ("hash/", 32, "hash/N"),
        ("hash/0", 0, "hash/N"),
        ("hash/99999999", 99999999, "hash/N"),
        ("hash/\u0663", 3, "hash/N"),
        ("acme/big", 32, "no provider 'acme'"),
    ],
)
def test_an_unknown_model_is_said_to_be_missing(model: str, dimensions: int, words: str) -> None:
    with pytest.raises(Permanent, match=words) as refusal:
        Registry().resolve(model, dimensions)

    assert refusal.value.code == "missing_embedding_model"


def test_a_good_answer_passes() -> None:
    rows = checked(np.ones((2, 3), dtype=np.float64).astype(np.float32), 2, 3)

    assert rows.dtype == np.float32


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (np.ones((1, 3)), "2 texts"),
        (np.ones((3, 3)), "2 texts"),
        (np.ones((2, 4)), "4 wide, the base keeps 3"),
        (np.ones(2), "no wide"),
        ([[1, 2, 3], [1, 2]], "unequal"),
        ([[1, 2, 3], [1, np.nan, 2]], "2 of 2 holds NaN"),
        ([[np.inf, 2, 3], [1, 1, 2]], "1 of 2 holds NaN"),
        ([[1, 2, 3], [0, 0, 0]], "2 of 2 has no length"),
    ],
)
def test_a_bad_answer_is_refused_and_says_what_is_wrong(answer: object, words: str) -> None:
    with pytest.raises(Permanent, match=words) as refusal:
        checked(answer, 2, 3)  # type: ignore[arg-type]  # what a model answers may be anything

    assert refusal.value.code == "bad_vectors"
