"""A used connection that is filled again holds what the image holds, and nothing else."""

from __future__ import annotations

from random import Random
from typing import Any

import apsw

from holdfast.stores.sqlite.main import FILE
from holdfast.stores.sqlite.refill import refill
from holdfast.testing import world as worlds
from holdfast.testing.case import Case
from holdfast.testing.disks import MemoryDisk
from holdfast.testing.templates import template


def rows(connection: apsw.Connection) -> dict[str, list[Any]]:
    names = [
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    ]
    return {name: sorted(connection.execute(f"SELECT * FROM {name}"), key=repr) for name in names}


def loaded(image: bytes) -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.deserialize("main", image)
    return connection


def images_of(seed: str) -> list[bytes]:
    """What the main store of one schedule was like, each time it was cut off."""
    found: list[bytes] = []
    world = worlds.World(Case(seed))
    cut = world.lose_power

    def looked() -> None:
        found.append(world.disk.connection(FILE).serialize("main"))
        cut()

    if isinstance(world.disk, MemoryDisk):  # real files are not filled again
        world.outage.cut_power = looked
        world.kernel.run(world.play)
        found.append(world.disk.connection(FILE).serialize("main"))
    world.kernel.close([life.process for life in world.lives])
    world.disk.close()
    return found


def test_a_filled_connection_holds_what_the_image_holds() -> None:
    images = [image for number in range(12) for image in images_of(f"refill-{number}")]
    fresh = template()[FILE]
    used = loaded(fresh)

    for image in [*images, fresh, *Random(1).sample(images, 8)]:
        refill(used, image)

        assert rows(used) == rows(loaded(image))
    assert len(images) > 12
