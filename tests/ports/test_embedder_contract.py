"""Embedder: count and order kept, finite float32 rows of the promised width."""

from __future__ import annotations

from typing import Any

import numpy as np

TEXTS = ["one", "two", "three", "two"]


def test_every_text_has_its_vector_in_order(stage: Any) -> None:
    def body() -> None:
        vectors = stage.embedder.embed(TEXTS)

        assert vectors.shape == (4, stage.embedder.width)
        assert vectors.dtype == np.float32
        assert np.isfinite(vectors).all()
        assert (np.linalg.norm(vectors, axis=1) > 0).all()
        assert np.array_equal(vectors[1], vectors[3])
        assert not np.array_equal(vectors[0], vectors[1])

    stage.play(body)


def test_a_text_has_the_same_vector_in_every_batch(stage: Any) -> None:
    def body() -> None:
        alone, beside = stage.embedder.embed(["two"]), stage.embedder.embed(TEXTS)

        assert np.allclose(alone[0], beside[1], atol=1e-5)

    stage.play(body)


def test_a_query_is_one_row_of_the_same_width(stage: Any) -> None:
    def body() -> None:
        row = stage.embedder.embed_query("two")

        assert row.shape == (1, stage.embedder.width)
        assert row.dtype == np.float32
        assert np.isfinite(row).all()

    stage.play(body)


def test_a_full_batch_is_answered(stage: Any) -> None:
    def body() -> None:
        texts = [f"text {n}" for n in range(stage.embedder.max_batch)]

        assert len(stage.embedder.embed(texts)) == stage.embedder.max_batch

    stage.play(body)
