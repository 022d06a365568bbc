"""Reading apart: what is cut in a child is what would have been cut here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.domain.chunks import ChunkPage, Cutting
from holdfast.domain.errors import Permanent
from holdfast.machine.threads import Threads
from holdfast.ports import Limits, Source
from holdfast.stages.reading.apart import WARM, ReaderApart
from holdfast.stages.reading.cutting import cut
from holdfast.stages.reading.ocr import Ocr
from holdfast.testing.office import docx, zipped
from holdfast.testing.samples import all_samples

CUTTING = Cutting(size=40, overlap=8)
SMALL = 64 << 10


@pytest.fixture(scope="module")
def runtime() -> Iterator[Threads]:
    runtime = Threads(WARM)
    yield runtime
    runtime.close()


def reader(runtime: Threads, in_process: int = 0) -> ReaderApart:
    return ReaderApart(runtime, Limits(), in_process, Ocr())


def source_of(name: str, content: bytes) -> Source:
    return Source(name, "hash", len(content), content)


def test_a_child_cuts_what_we_would_have_cut(runtime: Threads) -> None:
    for sample in all_samples():
        source = source_of(sample.name, sample.content)

        there = list(reader(runtime).read(source, CUTTING, runtime.event()))

        assert there == list(cut(source, CUTTING)), sample.kind
        assert any(sample.phrase[:12] in one.text for page in there for one in page.chunks)


def test_a_large_text_at_a_place_is_read_page_by_page(runtime: Threads, tmp_path: Path) -> None:
    place = tmp_path / "large.txt"
    place.write_bytes(b"The boiler hums quietly in the cellar.\n\n" * 40_000)
    source = Source("large.txt", "hash", place.stat().st_size, place=str(place))

    pages = list(reader(runtime).read(source, CUTTING, runtime.event()))

    assert len(pages) > 3
    assert [page.share for page in pages] == sorted(page.share for page in pages)


def test_small_plain_text_asks_for_no_child() -> None:
    runtime = Threads(("no.such.module",))
    apart = reader(runtime, SMALL)

    assert list(apart.read(source_of("a.txt", b"The lamp hums."), CUTTING, runtime.event()))
    with pytest.raises(Permanent, match="could not be started"):
        list(apart.read(source_of("a.docx", docx()), CUTTING, runtime.event()))


def test_the_sentence_of_a_refusal_comes_back_as_it_was(runtime: Threads) -> None:
    bad = source_of("bad.docx", zipped([("a.txt", "text")]))

    with pytest.raises(Permanent, match=r"bad\.docx is a ZIP archive") as caught:
        list(reader(runtime).read(bad, CUTTING, runtime.event()))

    assert caught.value.code == "unsupported"


def test_a_cancelled_reading_ends_without_a_word(runtime: Threads, tmp_path: Path) -> None:
    place = tmp_path / "large.txt"
    place.write_bytes(b"The boiler hums quietly in the cellar.\n\n" * 60_000)
    source = Source("large.txt", "hash", place.stat().st_size, place=str(place))
    cancelled = runtime.event()

    pages: list[ChunkPage] = []
    with closing(reader(runtime).read(source, CUTTING, cancelled)) as reading:
        for page in reading:
            pages.append(page)
            cancelled.set()

    assert len(pages) == 1
