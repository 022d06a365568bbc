"""How are repeated measurements told? Always with their number, sorted out by rank."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from holdfast.interfaces.library import Holdfast
from holdfast.ports import Embedder
from holdfast.stages.embedding.registry import Registry

WIDTH = 384


def caveat() -> None:
    one, five, fifteen = os.getloadavg()
    print(
        f"{os.cpu_count()} cores, load {one:.1f} {five:.1f} {fifteen:.1f}: "
        "others may be at work on this machine and its disk, read ratios"
    )


def rank(values: Sequence[float], share: float) -> float:
    """The value that this share of all values does not exceed."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def told(values: Sequence[float], unit: str = "ms", scale: float = 1e3) -> str:
    p50, p95, p99 = (rank(values, share) * scale for share in (0.5, 0.95, 0.99))
    return f"p50 {p50:8.2f}  p95 {p95:8.2f}  p99 {p99:8.2f} {unit}  ({len(values)} times)"


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as name:
        yield Path(name)


class SlowModel:
    """A model somewhere else: every call takes its time, and none of ours."""

    max_batch = 1_024
    max_tokens: int | None = None
    tokenizer: str | None = None
    batch_tokens: int | None = None
    steady = True

    def __init__(self, name: str, seconds: float) -> None:
        self.name, self.width, self.seconds = f"stub/{name}", WIDTH, seconds

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        time.sleep(self.seconds)
        rows = np.zeros((len(texts), self.width), dtype=np.float32)
        rows[:, 0] = 1.0
        return rows

    def embed_query(self, query: str) -> NDArray[np.float32]:
        return self.embed([query])


def stub(name: str, _dimensions: int) -> Embedder:
    """`stub/20`: 20 ms a call."""
    return SlowModel(name, int(name) / 1_000)


@contextmanager
def opened(path: Path, **given: Any) -> Iterator[Holdfast]:
    with (
        patch("holdfast.assembly.Registry", lambda *_: Registry({"stub": stub})),
        Holdfast.open(path, **given) as kb,
    ):
        yield kb


def text_of(number: int, words: int = 60) -> str:
    """Different for every number; about 600 characters."""
    return " ".join(f"word{(number * 31 + n * n) % 5_003}" for n in range(words)) + f" {number}"
