"""Ids: UUIDv7s, each later than every one before it."""

from __future__ import annotations

from typing import Any
from uuid import RFC_4122, UUID


def test_an_id_is_a_uuid_of_version_7(stage: Any) -> None:
    one = UUID(stage.ids.new())

    assert one.version == 7
    assert one.variant == RFC_4122


def test_ids_only_grow_and_are_never_given_twice(stage: Any) -> None:
    given = [stage.ids.new() for _ in range(5_000)]

    assert given == sorted(set(given))


def test_an_id_begins_with_the_time_it_was_given(stage: Any) -> None:
    milliseconds = UUID(stage.ids.new()).int >> 80

    assert abs(milliseconds - stage.clock.wall() * 1_000) < 5_000
