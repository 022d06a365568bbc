"""A new base from another's roots: what is there comes along, what is gone is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast import Directory, File, Holdfast, HoldfastError, Note
from holdfast.domain.bases import Base, BaseStatus


def filled(hf: Holdfast, folder: Path) -> Base:
    (folder / "docs").mkdir()
    (folder / "docs" / "a.md").write_text("a zebra")
    (folder / "gone.md").write_text("a quagga")
    (folder / "kept.md").write_text("an okapi")
    base = hf.create_base("old", embedding_model="hash/16", keep_originals=True)
    given = File(content=b"given bytes", name="given.txt")
    kept = File(str(folder / "kept.md"))
    hf.add(base, [Directory(str(folder / "docs")), Note("a tapir", title="n"), given, kept])
    hf.drain()
    hf.update_base(base, keep_originals=False)
    hf.add(base, File(str(folder / "gone.md")))
    hf.drain()
    return base


def test_what_is_there_or_stored_comes_along_and_what_is_gone_is_counted(tmp_path: Path) -> None:
    with Holdfast.open(tmp_path / "kb", run=False) as hf:
        base = filled(hf, tmp_path)
        (tmp_path / "gone.md").unlink()
        (tmp_path / "kept.md").unlink()

        restored = hf.restore_base(base, name="new")
        hf.drain()

        assert (restored.created, restored.missing_count) == (4, 1)
        assert [one.name for one in restored.missing] == ["gone.md"]
        items = hf.items(restored.base, parent="*").items
        assert {item.name for item in items} == {"docs", "a.md", "n", "given.txt", "kept.md"}
        assert {item.status for item in items} == {"completed"}
        assert hf.doctor() == []


def test_stored_bytes_stay_when_the_old_base_goes(tmp_path: Path) -> None:
    with Holdfast.open(tmp_path / "kb", run=False) as hf:
        base = filled(hf, tmp_path)
        new = hf.restore_base(base, name="new").base

        hf.delete_base(base)
        hf.drain()

        assert hf.search("given bytes", bases=[new], mode="keyword").hits
        assert hf.doctor() == []


def test_a_failed_base_can_be_restored_with_another_model(tmp_path: Path) -> None:
    with Holdfast.open(tmp_path / "kb", run=False) as hf:
        base = filled(hf, tmp_path)
        with hf._kb.main.write() as tx:
            tx.set_base_state(base.id, BaseStatus.FAILED, "missing_embedding_model")

        new = hf.restore_base(base, name="new", embedding_model="hash/32", dimensions=32).base
        hf.drain()

        assert hf.search("zebra", bases=[new]).hits


def test_a_restore_that_does_not_fit_into_the_queue_leaves_no_base(tmp_path: Path) -> None:
    with Holdfast.open(tmp_path / "kb", run=False) as hf:
        filled(hf, tmp_path)
    with Holdfast.open(tmp_path / "kb", run=False, max_queue_size=2) as hf:
        with pytest.raises(HoldfastError) as refused:
            hf.restore_base("old", name="new")
        hf.drain()

        assert refused.value.code == "queue_full"
        assert [base.name for base in hf.bases()] == ["old"]
