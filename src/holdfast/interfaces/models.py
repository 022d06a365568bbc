"""Which models are there, and what can be made of them once?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from holdfast.assembly import weights_of
from holdfast.config import Settings
from holdfast.domain.errors import HoldfastError
from holdfast.machine.cache import keep_with_sum, scratch
from holdfast.machine.files import FolderFiles
from holdfast.machine.threads import Threads
from holdfast.stages.embedding.local.models import NAMES, LocalModels
from holdfast.stages.embedding.local.weights import MINILM, Weights


@dataclass(frozen=True, slots=True)
class Model:
    """A model as a user chooses it; `trouble` says why it cannot be used."""

    name: str
    dimensions: int | None
    max_tokens: int | None
    trouble: str | None
    is_default: bool


def models(settings: Settings) -> list[Model]:
    """The models of this installation that need no network."""
    return [_model(settings, f"local/{name}") for name in NAMES]


def _model(settings: Settings, name: str) -> Model:
    is_default = name == settings.default_embedding_model
    try:
        made = LocalModels(_weights(settings), Threads())(name.partition("/")[2], 0)
    except HoldfastError as error:
        return Model(name, None, None, str(error), is_default)
    return Model(name, made.width, made.max_tokens, None, is_default)


def is_optimized(settings: Settings) -> bool:
    """Was the quicker file made here, and is it whole?"""
    return _weights(settings).optimized() is not None


def optimize_local(settings: Settings) -> str:
    """The place of the quicker file, made unless it is there."""
    from holdfast.stages.embedding.local.optimize import optimize

    weights = _weights(settings)
    if weights.optimized() is None:
        with scratch() as folder:
            keep_with_sum(weights.optimized_place, optimize(weights.read(MINILM), folder))
    return weights.optimized_place


def _weights(settings: Settings) -> Weights:
    return weights_of(settings, _files())


def _files() -> FolderFiles:
    return FolderFiles(Path())  # whole paths only
