"""Which items pass a filter, and which filters are none."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.domain.errors import InvalidInput
from holdfast.domain.filters import condition_of, holds, is_below, matches, parsed
from holdfast.domain.ids import ItemId
from holdfast.domain.items import Attribute, ItemType

A = ItemId("a")
DAY = datetime(2026, 5, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Thing:
    id: ItemId = A
    type: ItemType = ItemType.FILE
    source: str = "/data/reports/may.pdf"
    attributes: dict[str, Attribute] = field(default_factory=dict)
    created_at: datetime = DAY
    updated_at: datetime = DAY


@pytest.mark.parametrize(
    ("given_filter", "passes"),
    [
        ({}, True),
        ({"itemIds": ["a", "b"]}, True),
        ({"item_ids": ["b"]}, False),
        ({"itemIds": []}, False),
        ({"types": ["file", "note"]}, True),
        ({"types": ["url"]}, False),
        ({"pathPrefix": "/data/reports"}, True),
        ({"pathPrefix": "/data/reports/"}, True),
        ({"pathPrefix": "/data/rep"}, False),
        ({"createdFrom": "2026-05-01"}, True),
        ({"createdFrom": "2026-05-02T00:00:00Z"}, False),
        ({"createdTo": DAY}, True),
        ({"updatedTo": "2026-04-30T23:59:59+00:00"}, False),
        ({"types": None, "itemIds": None}, True),
    ],
)
def test_an_item_passes_when_every_part_agrees(
    given_filter: dict[str, object], passes: bool
) -> None:
    assert matches(parsed(given_filter), Thing()) is passes


@pytest.mark.parametrize(
    ("kind", "value", "passes"),
    [
        ("eq", 3, True),
        ("eq", 3.0, True),
        ("eq", "3", False),
        ("eq", True, False),
        ("ne", 4, True),
        ("ne", 3, False),
        ("ne", "3", True),
        ("gt", 2, True),
        ("gt", 3, False),
        ("gt", "2", False),
        ("gte", 3, True),
        ("lt", 3.5, True),
        ("lte", 2, False),
        ("in", [1, 3], True),
        ("in", [], False),
        ("nin", [1, 2], True),
        ("nin", [3], False),
    ],
)
def test_an_attribute_is_compared_in_its_own_kind(kind: str, value: object, passes: bool) -> None:
    condition = condition_of({"type": kind, "key": "n", "value": value})

    assert holds(condition, {"n": 3}) is passes


@pytest.mark.parametrize(("kind", "passes"), [("eq", False), ("ne", True), ("gt", False)])
def test_what_an_item_does_not_have_equals_nothing(kind: str, passes: bool) -> None:
    assert holds(condition_of({"type": kind, "key": "n", "value": 1}), {}) is passes


def test_conditions_nest() -> None:
    condition = condition_of(
        {
            "type": "and",
            "filters": [
                {"type": "eq", "key": "lang", "value": "zh"},
                {
                    "type": "or",
                    "filters": [
                        {"type": "gte", "key": "year", "value": 2020},
                        {"type": "eq", "key": "kept", "value": True},
                    ],
                },
            ],
        }
    )

    assert holds(condition, {"lang": "zh", "year": 2021})
    assert holds(condition, {"lang": "zh", "kept": True})
    assert not holds(condition, {"lang": "zh", "year": 2019})
    assert not holds(condition, {"lang": "en", "year": 2021})


@pytest.mark.parametrize(
    "wrong",
    [
        {"colour": 1},
        {"types": ["picture"]},
        {"types": "file"},
        {"itemIds": [1]},
        {"pathPrefix": 1},
        {"createdFrom": "yesterday"},
        {"createdFrom": 5},
        {"attributes": []},
        {"attributes": {"type": "like", "key": "a", "value": "b"}},
        {"attributes": {"type": "eq", "value": "b"}},
        {"attributes": {"type": "eq", "key": "a"}},
        {"attributes": {"type": "eq", "key": "a", "value": float("nan")}},
        {"attributes": {"type": "in", "key": "a", "value": "b"}},
        {"attributes": {"type": "and", "filters": {}}},
        {"attributes": {"type": ["eq"], "key": "a", "value": 1}},
    ],
)
def test_what_is_no_filter_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        parsed(wrong)


def test_a_filter_may_not_be_endless() -> None:
    deep: dict[str, object] = {"type": "eq", "key": "a", "value": 1}
    for _ in range(12):
        deep = {"type": "and", "filters": [deep]}

    with pytest.raises(InvalidInput, match="deep"):
        condition_of(deep)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["type", "key", "value", "filters"]) | st.text(), inner
            )
        ),
    )
)
def test_any_json_is_a_filter_or_refused(anything: object) -> None:
    try:
        condition = condition_of(anything)
    except InvalidInput:
        return
    assert holds(condition, {"a": 1}) in (True, False)


def test_a_prefix_ends_at_a_border() -> None:
    assert is_below("https://a.b/docs/x", "https://a.b/docs")
    assert not is_below("https://a.b/docs2", "https://a.b/docs")
