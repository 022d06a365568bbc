"""A world for each test, closed when it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.workflow.worlds import World

MakeWorld = Callable[..., World]


@pytest.fixture
def make_world(tmp_path: Path) -> Iterator[MakeWorld]:
    """Worlds with settings of their own."""
    made: list[World] = []

    def make(**settings: Any) -> World:
        made.append(World(tmp_path, **settings))
        return made[-1]

    yield make
    for world in made:
        world.close()


@pytest.fixture
def world(make_world: MakeWorld) -> World:
    return make_world()
