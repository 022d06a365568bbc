"""Does a check of a living index speak of damage only when there is some?"""

from __future__ import annotations

from pathlib import Path

from tests.stores.index_worlds import BASE, IMPLEMENTATIONS, X, Y, claim, write


def test_merged_full_text_is_no_damage_to_a_connection_that_knew_it_before(tmp_path: Path) -> None:
    """FTS5 keeps its list of segments with the connection; the check used to trust it."""
    index = IMPLEMENTATIONS["sqlite"](tmp_path)
    index.create(BASE)
    for number in range(1, 9):
        write(index, X, number, [f"x{number} " + words_of(number)])
    assert index.verify(BASE) == []  # its reader knows these segments

    index.remove(BASE, [(X, claim(number)) for number in range(1, 8)], [])
    while not index.purge(BASE):
        pass
    write(index, Y, 40, ["y " + words_of(40)])

    assert index.verify(BASE) == []
    index.close()


def words_of(number: int) -> str:
    return " ".join(f"word{number}n{place}" for place in range(60))
