"""The places of a query's words in a passage."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.stages.finding.highlights import highlights


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("The cat sat. Cats sit.", "CAT", ["cat"]),
        ("a red fox, a red dog", "red dog", ["red", "red", "dog"]),
        ("Lange Straße hier", "strasse", ["Straße"]),
        ("un cafe\u0301 noir", "café", ["cafe\u0301"]),
        ("我在中国", "中国", ["中国"]),
        ("我在中国", "国", ["国"]),
        ("新款iPhone手机发布", "iphone 手机", ["iPhone", "手机"]),
        ("ﾀﾜｰの上", "タワー", ["ﾀﾜｰ"]),
        ("北京大学的校长是王老师", "请问北京大学的校长是谁", ["北京大学的校长是"]),
        ("ｆｕｌｌ width", "full", ["ｆｕｌｌ"]),
        ("ﬁne", "fine", ["ﬁne"]),
        ("nothing here", "absent", []),
        ("some text", "!?", []),
        ("", "word", []),
        ("中中中", "中中", ["中中中"]),
    ],
)
def test_words_are_marked_where_they_stand(text: str, query: str, marked: list[str]) -> None:
    assert [text[start:end] for start, end in highlights(text, query)] == marked


@given(text=st.text(max_size=80), query=st.text(max_size=20))
def test_places_are_inside_in_order_and_apart(text: str, query: str) -> None:
    places = highlights(text, query)

    assert all(0 <= start < end <= len(text) for start, end in places)
    assert all(one[1] <= other[0] for one, other in pairwise(places))


def test_there_is_a_limit() -> None:
    assert len(highlights("a b " * 500, "a b")) == 100
