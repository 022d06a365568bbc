"""What is an item: one thing a user added, and the shapes it can be given in?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar

from holdfast.domain.errors import InvalidInput
from holdfast.domain.given import is_text
from holdfast.domain.ids import BaseId, ClaimNo, Generation, ItemId
from holdfast.domain.item_states import Status

MAX_ATTRIBUTES = 16
MAX_ATTRIBUTE_KEY = 64
MAX_ATTRIBUTE_VALUE = 512
MAX_NAME = 1_000

Attribute = str | int | float | bool


class ItemType(StrEnum):
    """What kind of thing was added."""

    FILE = "file"
    URL = "url"
    NOTE = "note"
    DIRECTORY = "directory"
    SITEMAP = "sitemap"


CONTAINERS = frozenset({ItemType.DIRECTORY, ItemType.SITEMAP})


@dataclass(frozen=True, slots=True)
class File:
    """A file of this machine, read when it is indexed; or bytes given at once under a name."""

    path: str | None = None
    content: bytes | None = None
    name: str | None = None
    attributes: Mapping[str, Attribute] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Directory:
    """A folder: its files become children; folders inside too, unless `recursive` is off."""

    path: str
    recursive: bool = True
    attributes: Mapping[str, Attribute] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Url:
    """One web page."""

    url: str
    attributes: Mapping[str, Attribute] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sitemap:
    """A sitemap: its pages become children."""

    url: str
    attributes: Mapping[str, Attribute] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Note:
    """Text given directly."""

    content: str
    title: str | None = None
    attributes: Mapping[str, Attribute] = field(default_factory=dict)


Input = File | Directory | Url | Sitemap | Note


@dataclass(frozen=True, slots=True)
class Item:
    """A row: what was added, where it stands, and which build of it answers."""

    id: ItemId
    base_id: BaseId
    parent_id: ItemId | None
    source_key: str
    type: ItemType
    name: str
    source: str
    data: Mapping[str, Any]
    attributes: Mapping[str, Attribute]
    status: Status
    error_code: str | None
    error: str | None
    error_advice: str | None
    warning: str | None
    generation: Generation
    published_build: ClaimNo | None
    published_generation: Generation | None
    recipe: str | None
    own_outcome: Status | None
    seen: Generation | None
    size: int
    workload: int
    chunk_count: int
    progress: int
    skipped: Mapping[str, Any] | None
    indexed_at: datetime | None
    heartbeat_at: datetime | None
    created_at: datetime
    updated_at: datetime
    pending: str | None = None
    outdated: bool = False

    @property
    def is_container(self) -> bool:
        return self.type in CONTAINERS

    @property
    def deleting(self) -> bool:
        return self.status is Status.DELETING


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item about to be written; the store gives it its first generation."""

    id: ItemId
    base_id: BaseId
    type: ItemType
    name: str
    source: str
    status: Status
    parent_id: ItemId | None = None
    source_key: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    size: int = 0
    workload: int = 0
    error: tuple[str, str, str] | None = None
    seen: Generation | None = None

    @property
    def is_container(self) -> bool:
        return self.type in CONTAINERS


@dataclass(frozen=True, slots=True)
class Refused:
    """An input that could not be accepted: which, why, and what to do."""

    index: int
    path: str
    code: str
    error: str
    advice: str


Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """A page of a list and the cursor of the next one."""

    items: tuple[Row, ...]
    next_cursor: str | None


def checked_attributes(given: object) -> dict[str, Attribute]:
    """The attributes as they may be stored, or InvalidInput naming the one that may not."""
    if not isinstance(given, Mapping):
        raise InvalidInput(f"attributes are names with values, not {type(given).__name__}")
    if len(given) > MAX_ATTRIBUTES:
        raise InvalidInput(f"{len(given)} attributes given; at most {MAX_ATTRIBUTES} are kept")
    return {_checked_key(key): _checked_value(key, value) for key, value in given.items()}


def _checked_key(key: object) -> str:
    if not is_text(key) or not 0 < len(key) <= MAX_ATTRIBUTE_KEY:
        raise InvalidInput(f"attribute name {key!r} is not 1-{MAX_ATTRIBUTE_KEY} characters")
    return key


def _checked_value(key: str, value: object) -> Attribute:
    if is_text(value) and len(value) <= MAX_ATTRIBUTE_VALUE:
        return value
    if isinstance(value, bool | int) and abs(value) < 1 << 63:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise InvalidInput(
        f"attribute {key!r} must be text of at most {MAX_ATTRIBUTE_VALUE} characters, "
        f"a finite number or true/false; got {type(value).__name__}"
    )


def workload_of_text(text: str) -> int:
    """Seed 001's estimate for what has no size in bytes yet."""
    return len(text) // 2
