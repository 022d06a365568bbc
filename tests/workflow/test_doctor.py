"""What does the doctor find, and what does it mend? A table of planted damages."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from holdfast import Holdfast
from holdfast.interfaces.cli.shell import run
from tests.workflow.damages import DAMAGES, Damage, planted, sound_folder, visit

ENOUGH = 30


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sound_folder(tmp_path_factory.mktemp("sound"))


def test_at_least_thirty_kinds_of_damage_are_known() -> None:
    assert len({damage.what for damage in DAMAGES}) >= ENOUGH


@pytest.mark.parametrize("damage", [pytest.param(one, id=one.what) for one in DAMAGES])
def test_a_damage_is_found_and_repaired_if_anything_is_left_to_repair_it_from(
    sound: Path, tmp_path: Path, damage: Damage, capsys: pytest.CaptureFixture[str]
) -> None:
    def answer(words: list[str]) -> tuple[int, Any]:
        capsys.readouterr()
        code = run(words)
        return code, json.loads(capsys.readouterr().out)

    seen = visit(planted(sound, tmp_path, damage), damage, answer)

    assert seen.found
    assert seen.is_right_for(damage), seen


def soon_without_findings(beside: Holdfast) -> bool:
    """Older builds go a moment after their items are done."""
    deadline = time.monotonic() + 30
    while beside.doctor() != []:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def test_the_doctor_finds_nothing_beside_an_owner_at_work(sound: Path, tmp_path: Path) -> None:
    folder = planted(sound, tmp_path, Damage("nothing", "", lambda _broken: None))
    with Holdfast.open(folder) as hf, Holdfast.open(folder, read_only=True) as beside:
        for _ in range(3):
            hf.reindex([item.id for item in hf.items("b").items], skip_active=True)
            assert [one for one in beside.doctor() if one.invariant.startswith("i14")] == []
        hf.wait([item.id for item in hf.items("b").items], timeout=30)
        assert soon_without_findings(beside)
