"""What is a knowledge base: its settings, their limits, and what changes make sense?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from holdfast.domain.errors import InvalidInput
from holdfast.domain.given import is_number, is_text, is_whole
from holdfast.domain.ids import BaseId

MAX_BASE_NAME = 200
MAX_TOP_K = 100
OVERLAP_SHARE = 4  # of a chunk that had to be made smaller, at most


class BaseStatus(StrEnum):
    """Whether a base can work."""

    COMPLETED = "completed"
    FAILED = "failed"
    DELETING = "deleting"


@dataclass(frozen=True, slots=True)
class BaseSettings:
    """What a user may choose for a base; a run reads it once, when it is taken."""

    name: str
    group: str | None = None
    embedding_model: str | None = None
    dimensions: int | None = None
    rerank_model: str | None = None
    file_processor_id: str | None = None
    file_processing_max_wait: int = 1800
    chunk_size: int = 512
    chunk_overlap: int = 64
    chunk_strategy: str = "structured"
    chunk_separator: str | None = None
    search_mode: str = "hybrid"
    top_k: int = 10
    threshold: float | None = None
    empty_content: str = "fail"
    recovery: str = "resume"
    keep_originals: bool = False
    sync: str = "off"


CHOICES: dict[str, tuple[str, ...]] = {
    "chunk_strategy": ("structured", "delimiter"),
    "search_mode": ("hybrid", "vector", "keyword"),
    "empty_content": ("fail", "complete"),
    "recovery": ("resume", "ask"),
    "sync": ("off", "interval", "watch"),
}

ONLY_BY_MIGRATE = frozenset({"embedding_model", "dimensions"})


@dataclass(frozen=True, slots=True)
class Base:
    """A row: settings, state, and the space its vectors live in."""

    id: BaseId
    settings: BaseSettings
    status: BaseStatus
    error_code: str | None
    space: int
    paused: bool
    created_at: datetime
    updated_at: datetime

    @property
    def name(self) -> str:
        return self.settings.name

    @property
    def provider(self) -> str | None:
        return provider_of(self.settings.embedding_model)


def provider_of(model: str | None) -> str | None:
    """The provider a `provider/model` name begins with."""
    return model.partition("/")[0] if model else None


def checked(settings: BaseSettings) -> BaseSettings:
    """The settings as they may be stored, or InvalidInput naming the field and what it takes."""
    settings = replace(settings, name=_checked_name(settings.name))
    for field, accepted in CHOICES.items():
        _require(getattr(settings, field) in accepted, field, settings, " | ".join(accepted))
    for field in ("group", "rerank_model", "file_processor_id", "chunk_separator"):
        given = getattr(settings, field)
        _require(given is None or (is_text(given) and given), field, settings, "text, or nothing")
    _require(isinstance(settings.keep_originals, bool), "keep_originals", settings, "true | false")
    _check_model(settings)
    _check_chunks(settings)
    _require(is_whole(settings.top_k, 1, MAX_TOP_K), "top_k", settings, f"1 to {MAX_TOP_K}")
    wait = settings.file_processing_max_wait
    _require(is_whole(wait, 1, 7 * 86_400), "file_processing_max_wait", settings, "1 to 604800 s")
    if settings.threshold is not None:
        _require(is_number(settings.threshold), "threshold", settings, "a finite number")
    return settings


def changed(settings: BaseSettings, changes: Mapping[str, Any]) -> BaseSettings:
    """The settings after a user's change; what binds stored vectors changes by migrate only."""
    known = {field.name for field in fields(BaseSettings)}
    for name, value in changes.items():
        if name not in known:
            raise InvalidInput(f"a base has no setting {name!r}; it has {', '.join(sorted(known))}")
        if name in ONLY_BY_MIGRATE and value != getattr(settings, name):
            raise InvalidInput(f"{name} changes by migrate only: stored vectors depend on it")
    return checked(replace(settings, **changes))


def within(settings: BaseSettings, most: int | None) -> BaseSettings:
    """The settings with chunks that the model can take in whole; None: it takes any."""
    if most is None or settings.chunk_size <= most:
        return settings
    overlap = min(settings.chunk_overlap, most // OVERLAP_SHARE)
    return replace(settings, chunk_size=most, chunk_overlap=overlap)


def _checked_name(name: object) -> str:
    clean = name.replace("\x00", "").strip() if is_text(name) else ""
    if not 0 < len(clean) <= MAX_BASE_NAME:
        raise InvalidInput(f"a base's name is 1 to {MAX_BASE_NAME} characters, not {name!r}")
    return clean


def may_name_model(model: object) -> None:
    """Before the model is looked for."""
    if not is_text(model):
        raise InvalidInput(f"embedding_model is {model!r}; it takes provider/model")


def _check_model(settings: BaseSettings) -> None:
    model, width = settings.embedding_model, settings.dimensions
    if (model is None) != (width is None):
        raise InvalidInput("embedding_model and dimensions are given both or neither")
    if model is not None:
        may_name_model(model)
        provider, slash, rest = model.partition("/")
        ok = bool(provider and slash and rest)
        _require(ok, "embedding_model", settings, "provider/model")
        _require(is_whole(width, 1, 16_384), "dimensions", settings, "1 to 16384")
    elif settings.search_mode != "keyword":
        _require(False, "search_mode", settings, "keyword, as the base has no embedding model")


def _check_chunks(settings: BaseSettings) -> None:
    size, overlap = settings.chunk_size, settings.chunk_overlap
    _require(is_whole(size, 16, 8_192), "chunk_size", settings, "16 to 8192 tokens")
    _require(is_whole(overlap, 0, size - 1), "chunk_overlap", settings, "0 to chunk_size - 1")
    if settings.chunk_strategy == "delimiter":
        _require(bool(settings.chunk_separator), "chunk_separator", settings, "text to cut at")


def _require(holds: object, field: str, settings: BaseSettings, accepted: str) -> None:
    if not holds:
        raise InvalidInput(f"{field} is {getattr(settings, field)!r}; it takes {accepted}")
