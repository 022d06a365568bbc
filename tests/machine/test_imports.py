"""What does `import holdfast` cost? Nothing heavy is loaded until somebody uses it.

Structure, not time: `python -X importtime -c 'import holdfast'` tells the milliseconds.
"""

from __future__ import annotations

import pytest

from tests.stores.processes import answer

HEAVY = ("numpy", "pydantic", "pydantic_settings", "apsw", "simsimd", "greenlet", "asyncio")
LOADED = "import sys\n{}\nprint(' '.join(sorted(name for name in sys.modules if '.' not in name)))"


def loaded(statement: str) -> set[str]:
    return set(answer(LOADED.format(statement)).split())


@pytest.mark.parametrize("heavy", HEAVY)
def test_importing_holdfast_loads_nothing_heavy(heavy: str) -> None:
    assert heavy not in loaded("import holdfast")


def test_the_words_for_inputs_load_no_engine() -> None:
    found = loaded("from holdfast import Note, File, Directory, HoldfastError")

    assert found.isdisjoint(HEAVY)


def test_the_library_loads_numbers_only_when_it_counts() -> None:
    found = loaded("from holdfast import Holdfast")

    assert "numpy" not in found
    assert "apsw" in found
