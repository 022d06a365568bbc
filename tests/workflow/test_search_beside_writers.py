"""Is a word ever lost, or shown in two versions, while its item is written anew?"""

from __future__ import annotations

from pathlib import Path

import pytest

from bench._searchers import search_beside, versioned
from holdfast import Note
from holdfast.interfaces.library import Holdfast


@pytest.mark.slow
def test_a_word_of_both_versions_is_in_every_answer_and_in_one_version_only(
    tmp_path: Path,
) -> None:
    with Holdfast.open(tmp_path / "kb") as kb:
        base = kb.create_base("b", embedding_model="hash/64", chunk_size=128, chunk_overlap=0)
        (item,) = kb.add(base, Note(versioned(0), title="again")).created
        kb.wait(item)

        seen = search_beside(kb, base, item, searchers=4, seconds=6)

    assert (seen.empty, seen.torn) == (0, 0)
    assert len(seen.versions) > 5
    assert seen.answers > 50
