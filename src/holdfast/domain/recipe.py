"""What was a build made of? Equal recipes make equal builds."""

from __future__ import annotations

from hashlib import sha256

from holdfast.domain.bases import BaseSettings

READER_VERSION = 1
CHUNKER_VERSION = 2


def recipe_of(content: str, settings: BaseSettings, space: int) -> str:
    """One name for everything that decides a build: content hash, versions, settings, space."""
    return f"{content[:32]}.{manner_of(settings, space)}"


def manner_of(settings: BaseSettings, space: int) -> str:
    """The part of the recipe that comes from the base, not from the item's content."""
    parts = (
        READER_VERSION,
        CHUNKER_VERSION,
        settings.chunk_strategy,
        settings.chunk_size,
        settings.chunk_overlap,
        settings.chunk_separator,
        settings.file_processor_id,
        space if settings.embedding_model else None,
    )
    return sha256(repr(parts).encode()).hexdigest()[:16]


def is_outdated(recipe: str | None, settings: BaseSettings, space: int) -> bool:
    """Was the published build made in another manner than the base asks for now?"""
    return recipe is not None and recipe.partition(".")[2] != manner_of(settings, space)
