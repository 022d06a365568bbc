"""What does closing leave?"""

from __future__ import annotations

from tests.workflow.worlds import World


def test_closing_twice_is_closing_once(world: World) -> None:
    note = world.done_note("The lamp hums.")
    world.hf.close()

    world.hf.close()

    world.reopen()
    assert world.hf.item(note).status == "completed"
