"""Is there room on the disk to take in more, and can a delete always be done?

    free space under the floor -> intake is refused (`disk_full`), no job starts but deletes
    nearly nothing left        -> the reserve file is given up, so that deletes can write
    room again                 -> the reserve is taken back; jobs go on by themselves

Deleting needs room before it makes room: marks and the log of the database come first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from holdfast.domain.errors import DiskFull
from holdfast.domain.jobs import Lane
from holdfast.workflow.workbench import Workbench

Answer = TypeVar("Answer")

SCARCE = 2  # the reserve goes when less than so many times its size is left


def may_take_in(kb: Workbench) -> None:
    """DiskFull below the floor, naming what is free and the settings that draw the line."""
    free, total = kb.files.free()
    floor = floor_of(kb, total)
    if free < floor:
        raise DiskFull(
            f"{free:,} bytes are free on the disk of the data folder and {floor:,} are kept free "
            f"(min_free_bytes {kb.settings.min_free_bytes:,}, "
            f"min_free_percent {kb.settings.min_free_percent})"
        )


def may_start(kb: Workbench, lane: Lane) -> None:
    """Deletes always may: they make room."""
    if lane is not Lane.URGENT:
        may_take_in(kb)


def is_full(kb: Workbench) -> bool:
    free, total = kb.files.free()
    return free < floor_of(kb, total)


def floor_of(kb: Workbench, total: int) -> int:
    return max(kb.settings.min_free_bytes, total * kb.settings.min_free_percent // 100)


def mind_the_reserve(kb: Workbench) -> None:
    """Given up when the disk is nearly full, taken back when there is room enough."""
    free, total = kb.files.free()
    size = kb.settings.reserve_bytes
    if free < SCARCE * size:
        kb.files.reserve(0)
    elif free >= floor_of(kb, total) + size:
        kb.files.reserve(size)


def with_reserve(kb: Workbench, act: Callable[[], Answer]) -> Answer:
    """What makes room is done even when there is none: the reserve is given up for it."""
    try:
        return act()
    except DiskFull:
        kb.files.reserve(0)
        return act()
