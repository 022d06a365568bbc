"""What of a base's settings follows from its model?"""

from __future__ import annotations

import pytest

from holdfast.domain.bases import BaseSettings, within


@pytest.mark.parametrize(
    ("size", "overlap", "most", "cut"),
    [
        (512, 64, None, (512, 64)),
        (512, 64, 254, (254, 63)),
        (512, 300, 254, (254, 63)),
        (200, 64, 254, (200, 64)),
        (254, 64, 254, (254, 64)),
    ],
)
def test_chunks_are_never_longer_than_the_model_takes(
    size: int, overlap: int, most: int | None, cut: tuple[int, int]
) -> None:
    settings = within(BaseSettings("b", chunk_size=size, chunk_overlap=overlap), most)

    assert (settings.chunk_size, settings.chunk_overlap) == cut
