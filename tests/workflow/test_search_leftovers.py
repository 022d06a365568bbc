"""What does a search answer while an older build still stands beside the published one?"""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast import Holdfast, Note
from holdfast.workflow import index_document


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
def test_a_build_that_could_not_be_dropped_hides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    with Holdfast.open(tmp_path, run=False) as kb:
        base = kb.create_base("b", embedding_model="hash/32")
        (note,) = kb.add(base, Note("the old harbour")).created
        kb.drain()
        monkeypatch.setattr(index_document, "drop_older", lambda kb, taken: None)
        kb.update(note, content="the new harbour")
        kb.drain()
        assert len(kb._kb.index.builds(base.id)) == 2

        hits = kb.search("harbour", bases=base, mode=mode).hits  # type: ignore[arg-type]

    assert [hit.content for hit in hits] == ["the new harbour"]
