"""Encodings: a text is read as it was written, whoever wrote it, and a gigabyte as a stream."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path

import pytest

from holdfast.ports import Source
from holdfast.stages.reading.encodings import encoding_of, known
from holdfast.stages.reading.parse import parse

TEXTS = {
    "gb18030": "锅炉的阀门需要把黄铜手轮旋转两圈才能打开。",
    "big5": "鍋爐的閥門需要把黃銅手輪旋轉兩圈才能打開。",
    "shift_jis": "ボイラーの弁は真鍮のハンドルを二回まわすと開きます。",
    "euc_jp": "ボイラーの弁は真鍮のハンドルを二回まわすと開きます。",
    "cp949": "보일러 밸브는 황동 손잡이를 두 번 돌리면 열립니다",
    "cp1251": "Клапан котла открывается двумя поворотами латунного колеса",
    "latin-1": "Le modèle était très cassé, ça alors! Où est la forêt de l'été?",
    "cp1252": "„Die Prüfung“ der Straße dauert fünf Minuten – sagt Müller…",
    "cp1250": "Zażółć gęślą jaźń, a łódka płynie dalej po rzece",
    "utf-8-sig": "naïve",
    "utf-16": "锅炉 boiler",
    "utf-16-le": "The boiler hums quietly.",
    "utf-16-be": "The boiler hums quietly.",
    "utf-32": "锅炉 boiler",
    "utf-8": "naïve 锅炉 😀",
}


def text_of(content: bytes) -> str:
    parsed = parse(Source("a.txt", "hash", len(content), content))
    return "".join(one.text for one in parsed.segments)


@pytest.mark.parametrize("encoding", TEXTS)
def test_a_text_is_read_as_it_was_written(encoding: str) -> None:
    text = TEXTS[encoding] * 3

    assert text_of(text.encode(encoding)) == text


def test_what_is_not_utf8_only_far_behind_is_found_all_the_same() -> None:
    content = b"boiler\n" * 400_000 + "Prüfung der Straße\n".encode("latin-1") * 50

    assert text_of(content).endswith("Prüfung der Straße\n")


def test_a_character_cut_in_two_by_a_block_stays_one() -> None:
    text = TEXTS["gb18030"] * 15_000

    assert text_of(text.encode()) == text
    assert text_of(b"a" + text.encode("gb18030")) == "a" + text


def test_bytes_that_are_no_text_have_no_encoding() -> None:
    assert encoding_of(io.BytesIO(bytes(range(256)))) is None
    assert encoding_of(io.BytesIO(bytes(1))) is None


@pytest.mark.parametrize(
    ("name", "meant"),
    [("GB2312", "gb18030"), ("us-ascii", "cp1252"), ("rot13", None), ("zip", None), ("x-y", None)],
)
def test_a_name_of_an_encoding_means_what_people_mean_by_it(name: str, meant: str | None) -> None:
    assert known(name) == meant


def test_a_large_text_takes_no_more_memory_than_a_small_one(tmp_path: Path) -> None:
    place = tmp_path / "large.txt"
    place.write_bytes("The boiler hums. 锅炉\n".encode() * 800_000)
    parsed = parse(Source("large.txt", "hash", place.stat().st_size, place=str(place)))

    tracemalloc.start()
    size = sum(len(one.text) for one in parsed.segments)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert size == 800_000 * len("The boiler hums. 锅炉\n")
    assert most < 8 << 20
    assert parsed.consumed() == 1.0
