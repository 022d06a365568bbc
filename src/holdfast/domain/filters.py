"""Which items may answer? A filter is a value; whether an item passes is one pure function.

Attributes are compared as they were given: a number with a number, a text with a text, a truth
value with a truth value. What an item does not have, or has in another kind, is unequal to
everything and neither greater nor less.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Protocol, assert_never

from holdfast.domain.errors import InvalidInput
from holdfast.domain.ids import ItemId
from holdfast.domain.items import Attribute, ItemType

MAX_CONDITIONS = 100
MAX_DEPTH = 10
MAX_VALUES = 10_000


class Op(StrEnum):
    """How an attribute is compared."""

    EQ = "eq"
    NE = "ne"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    IN = "in"
    NIN = "nin"


class Join(StrEnum):
    """How conditions go together."""

    AND = "and"
    OR = "or"


@dataclass(frozen=True, slots=True)
class Compare:
    """One attribute against a value; `in` and `nin` against several."""

    key: str
    op: Op
    values: tuple[Attribute, ...]


@dataclass(frozen=True, slots=True)
class Joined:
    """Conditions, all of them or any."""

    join: Join
    conditions: tuple[Condition, ...]


Condition = Compare | Joined


@dataclass(frozen=True, slots=True)
class Filter:
    """What an item must be; absent parts ask nothing."""

    item_ids: frozenset[ItemId] | None = None
    types: frozenset[ItemType] | None = None
    path_prefix: str | None = None
    attributes: Condition | None = None
    created_from: datetime | None = None
    created_to: datetime | None = None
    updated_from: datetime | None = None
    updated_to: datetime | None = None


class Filterable(Protocol):
    """What a filter looks at: `source` is the path, the URL or the title."""

    @property
    def id(self) -> ItemId: ...
    @property
    def type(self) -> ItemType: ...
    @property
    def source(self) -> str: ...
    @property
    def attributes(self) -> Mapping[str, Attribute]: ...
    @property
    def created_at(self) -> datetime: ...
    @property
    def updated_at(self) -> datetime: ...


# ------------------------------------------------------------------------------ does it pass?


def matches(wanted: Filter, item: Filterable) -> bool:
    """Does the item pass every part of the filter?"""
    return (
        (wanted.item_ids is None or item.id in wanted.item_ids)
        and (wanted.types is None or item.type in wanted.types)
        and (wanted.path_prefix is None or is_below(item.source, wanted.path_prefix))
        and (wanted.attributes is None or holds(wanted.attributes, item.attributes))
        and _between(wanted.created_from, item.created_at, wanted.created_to)
        and _between(wanted.updated_from, item.updated_at, wanted.updated_to)
    )


def holds(condition: Condition, attributes: Mapping[str, Attribute]) -> bool:
    """Is the condition true of these attributes?"""
    if isinstance(condition, Compare):
        return _compare(condition, attributes.get(condition.key))
    each = (holds(one, attributes) for one in condition.conditions)
    return all(each) if condition.join is Join.AND else any(each)


def is_below(source: str, prefix: str) -> bool:
    """Does a path begin with a prefix, at a border between names?"""
    bare = prefix.rstrip("/")
    return source in (bare, prefix) or source.startswith(f"{bare}/")


def _compare(condition: Compare, value: Attribute | None) -> bool:
    wanted = condition.values
    match condition.op:
        case Op.EQ | Op.IN:
            return any(_equal(value, one) for one in wanted)
        case Op.NE | Op.NIN:
            return not any(_equal(value, one) for one in wanted)
        case Op.GT:
            return _ordered(value, wanted[0], lambda sign: sign > 0)
        case Op.GTE:
            return _ordered(value, wanted[0], lambda sign: sign >= 0)
        case Op.LT:
            return _ordered(value, wanted[0], lambda sign: sign < 0)
        case Op.LTE:
            return _ordered(value, wanted[0], lambda sign: sign <= 0)
    assert_never(condition.op)


def _equal(value: Attribute | None, wanted: Attribute) -> bool:
    return value is not None and _kind(value) is _kind(wanted) and value == wanted


def _ordered(value: Attribute | None, wanted: Attribute, passes: Callable[[int], bool]) -> bool:
    if value is None or _kind(value) is not _kind(wanted):
        return False
    return passes((value > wanted) - (value < wanted))  # type: ignore[operator]  # same kind


def _kind(value: Attribute) -> type:
    if isinstance(value, bool):
        return bool
    return str if isinstance(value, str) else float


def _between(first: datetime | None, value: datetime, last: datetime | None) -> bool:
    return (first is None or value >= first) and (last is None or value <= last)


# ------------------------------------------------------------------------- is it well formed?

FIELDS = {
    "itemIds": "item_ids",
    "types": "types",
    "pathPrefix": "path_prefix",
    "attributes": "attributes",
    "createdFrom": "created_from",
    "createdTo": "created_to",
    "updatedFrom": "updated_from",
    "updatedTo": "updated_to",
}


def parsed(given: Mapping[str, Any]) -> Filter:
    """A filter from its JSON form (camelCase or snake_case); InvalidInput names what is wrong."""
    parts: dict[str, Any] = {}
    for name, value in given.items():
        field = FIELDS.get(name, name)
        if field not in FIELDS.values():
            raise InvalidInput(f"a filter has no {name!r}; it has {', '.join(FIELDS)}")
        parts[field] = None if value is None else _part(field, name, value)
    return Filter(**parts)


def _part(field: str, name: str, value: Any) -> Any:
    if field == "item_ids":
        return frozenset(ItemId(one) for one in _texts(name, value))
    if field == "types":
        return frozenset(_type(one) for one in _texts(name, value))
    if field == "path_prefix":
        return _text(name, value)
    if field == "attributes":
        return condition_of(value)
    return _date(name, value)


def condition_of(given: Any) -> Condition:
    """`{type: eq, key, value}` or `{type: and, filters: […]}`, nested; else InvalidInput."""
    room = [MAX_CONDITIONS]
    return _condition(given, 1, room)


def _condition(given: Any, depth: int, room: list[int]) -> Condition:
    room[0] -= 1
    if room[0] < 0 or depth > MAX_DEPTH:
        raise InvalidInput(f"a filter takes {MAX_CONDITIONS} conditions, {MAX_DEPTH} deep")
    if not isinstance(given, Mapping):
        raise InvalidInput(f"a condition is an object with a type, not {type(given).__name__}")
    kind = given.get("type")
    if kind in list(Join):
        inner = _list("filters", given.get("filters"))
        return Joined(Join(kind), tuple(_condition(one, depth + 1, room) for one in inner))
    if kind in list(Op):
        return Compare(_text("key", given.get("key")), Op(kind), _values(Op(kind), given))
    accepted = ", ".join([*Op, *Join])
    raise InvalidInput(f"a condition's type is {kind!r}; it takes {accepted}")


def _values(op: Op, given: Mapping[str, Any]) -> tuple[Attribute, ...]:
    if op in {Op.IN, Op.NIN}:
        return tuple(_value(op, one) for one in _list("value", given.get("value")))
    return (_value(op, given.get("value")),)


def _value(op: Op, value: Any) -> Attribute:
    if isinstance(value, str | bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise InvalidInput(f"{op} compares text, finite numbers and true/false, not {value!r}")


def _list(name: str, value: Any) -> Sequence[Any]:
    if not isinstance(value, list | tuple | set | frozenset) or len(value) > MAX_VALUES:
        raise InvalidInput(f"{name} is a list of at most {MAX_VALUES}")
    return tuple(value)


def _texts(name: str, value: Any) -> list[str]:
    return [_text(name, one) for one in _list(name, value)]


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{name} is text, not {type(value).__name__}")
    return value


def _type(name: str) -> ItemType:
    if name not in set(ItemType):
        raise InvalidInput(f"types has {name!r}; it takes {', '.join(ItemType)}")
    return ItemType(name)


def _date(name: str, value: Any) -> datetime:
    try:
        found = value if isinstance(value, datetime) else datetime.fromisoformat(value)
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"{name} is a date in ISO 8601, not {value!r}") from error
    return found if found.tzinfo else found.replace(tzinfo=UTC)
