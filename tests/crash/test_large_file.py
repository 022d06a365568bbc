"""A very large file: in bounded memory, with progress that moves, and a kill costs one batch."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = str(Path(__file__).parents[2])
MEBIBYTES = 64
MOST_MEMORY = 300  # MB; it does not grow with the file: a gigabyte has 600
STEPS = 40


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_large_file_needs_little_memory_and_a_kill_costs_one_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(ROOT)
    monkeypatch.setenv("PYTHONPATH", ":".join([ROOT, *sys.path]))
    from bench import gigabyte

    found = gigabyte.measured(MEBIBYTES)

    assert found["peak MB"] < MOST_MEMORY
    assert found["embedded again"] <= gigabyte.BATCH
    assert found["progress values"] > STEPS
