"""Rows that were never scheduled here: what answers is completed, the rest waits."""

from __future__ import annotations

from pathlib import Path

import apsw

from holdfast import Directory, Holdfast, Note

IDLE = (
    "UPDATE items SET status = 'idle', generation = 1, published_build = NULL,"
    " published_generation = NULL, recipe = NULL, own_outcome = NULL, chunk_count = 0"
)


def aged(folder: Path, lost: str) -> None:
    """An installation as an older version would have left it, with one build missing."""
    (folder / "docs").mkdir()
    (folder / "docs" / "a.md").write_text("a zebra")
    with Holdfast.open(folder / "kb", run=False) as hf:
        base = hf.create_base("b", embedding_model="hash/16")
        notes = [Note("a tapir", title="one"), Note("an okapi", title="two")]
        hf.add(base, [Directory(str(folder / "docs")), *notes])
        hf.drain()
        (gone,) = [item.id for item in hf.items(base).items if item.name == lost]
    main = apsw.Connection(str(folder / "kb" / "holdfast.db"))
    main.execute(IDLE)
    main.close()
    index = apsw.Connection(str(folder / "kb" / "index" / f"{base.id}.db"))
    index.execute("UPDATE build SET state = 0, n = NULL, digest = NULL WHERE item = ?", (gone,))
    index.close()


def test_rows_with_a_complete_index_are_completed_and_the_rest_stays_idle(tmp_path: Path) -> None:
    aged(tmp_path, "two")

    with Holdfast.open(tmp_path / "kb", run=False) as hf:
        found = {item.name: item for item in hf.items("b", parent="*").items}
        assert {name: item.status for name, item in found.items()} == {
            "docs": "completed",
            "a.md": "completed",
            "one": "completed",
            "two": "idle",
        }
        assert (found["one"].generation, found["one"].published_generation) == (1, 1)
        assert hf.search("tapir", mode="keyword").hits
        assert hf.doctor() == []


def test_an_idle_row_is_read_when_somebody_asks(tmp_path: Path) -> None:
    aged(tmp_path, "two")

    with Holdfast.open(tmp_path / "kb", run=False) as hf:
        embedded = hf.stats().texts_embedded
        hf.drain()
        assert hf.stats().texts_embedded == embedded

        hf.recover("b")
        hf.drain()

        assert {item.status for item in hf.items("b", parent="*").items} == {"completed"}
        assert hf.doctor() == []
