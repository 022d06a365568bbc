"""What happens when the index of a base is lost or damaged?"""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast import Holdfast, HoldfastError, Note
from holdfast.domain.bases import BaseStatus
from holdfast.workflow.rebuild_base import rebuild_base
from holdfast.workflow.sweep import sweep

WORDS = ("zebra", "quagga", "okapi")


def filled(folder: Path) -> str:
    with Holdfast.open(folder) as hf:
        base = hf.create_base("animals", embedding_model="hash/32")
        added = hf.add(base, [Note(f"a {word} stands there", title=word) for word in WORDS])
        hf.wait(added.created, timeout=20)
        return base.id


def overwrite(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[4096:12288] = b"\xa5" * 8192
    file.write_bytes(content)


@pytest.mark.parametrize("harm", [Path.unlink, overwrite])
def test_a_lost_or_damaged_index_is_made_again_without_anybody(
    tmp_path: Path, harm: object
) -> None:
    base = filled(tmp_path)
    assert callable(harm)
    harm(tmp_path / "index" / f"{base}.db")

    with Holdfast.open(tmp_path, run=False) as hf:
        sweep(hf._kb)
        hf.drain(20)

        found = {hit.title for word in WORDS for hit in hf.search(word, mode="keyword").hits}
        assert found == set(WORDS)
        assert not hf.doctor()


def test_a_base_whose_index_is_being_made_again_refuses_searches(tmp_path: Path) -> None:
    filled(tmp_path)

    with Holdfast.open(tmp_path, run=False) as hf:
        [base] = hf.bases()
        with hf._kb.main.write() as tx:
            tx.set_base_state(base.id, BaseStatus.FAILED, "missing_vector_store")
        with pytest.raises(HoldfastError, match="missing_vector_store") as refused:
            hf.search("zebra")

    assert refused.value.code == "base_failed"


def test_a_rebuild_cut_short_goes_on_at_the_next_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(tmp_path)
    monkeypatch.setattr("holdfast.workflow.rebuild_base.SLICE", 1)

    with Holdfast.open(tmp_path, run=False) as hf:
        [base] = hf.bases()
        with monkeypatch.context() as cut:
            cut.setattr("holdfast.workflow.rebuild_base._restart_slice", _cut)
            with pytest.raises(RuntimeError):
                rebuild_base(hf._kb, base)
        assert hf.bases()[0].error_code == "missing_vector_store"
        hf._kb.index.drop(base.id)

        sweep(hf._kb)
        hf.drain(20)

        assert {hit.title for hit in hf.search("stands", mode="keyword").hits} == set(WORDS)


def _cut(*_: object) -> bool:
    raise RuntimeError("the power fails here")
