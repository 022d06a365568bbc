"""The main store as each implementation makes it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.stores.main_worlds import IMPLEMENTATIONS, A, World, opened


@pytest.fixture(params=sorted(IMPLEMENTATIONS))
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    """A main store with one base."""
    with opened(IMPLEMENTATIONS[request.param], tmp_path) as made:
        made.base(A)
        yield made
