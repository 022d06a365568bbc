"""What a user can meet is named in the docs: settings, states, kinds of jobs, error codes."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from typing import Any

import pytest

from tests.architecture import source

# What is documented, and where the package says what there is.
MEMBERS = {
    "status": ("holdfast.domain.item_states", "Status"),
    "job state": ("holdfast.domain.jobs", "JobState"),
    "job kind": ("holdfast.domain.jobs", "JobKind"),
    "reason to wait": ("holdfast.jobs.waiting", "Reason"),
}


@pytest.mark.parametrize("what", sorted(MEMBERS))
def test_every_member_is_named_in_the_docs(what: str) -> None:
    module, name = MEMBERS[what]
    missing = unnamed([member.value for member in there(module, name)], documented())

    assert not missing, f"{what} not in docs/: {', '.join(missing)}"


def test_every_error_code_is_named_in_the_docs() -> None:
    missing = unnamed(list(there("holdfast.domain.errors", "CODES")), documented())

    assert not missing, f"error codes not in docs/: {', '.join(missing)}"


def test_every_setting_is_named_in_the_docs() -> None:
    fields = there("holdfast.config", "Settings").model_fields
    missing = unnamed(list(fields), documented())

    assert fields
    assert not missing, f"settings not in docs/: {', '.join(missing)}"


def there(module: str, name: str) -> Any:
    """The thing the docs speak of; it may not vanish or be renamed unnoticed."""
    return getattr(import_module(module), name)


@cache
def documented() -> frozenset[str]:
    """Every name that stands in the docs between back-ticks."""
    pages = sorted(source.DOCS.rglob("*.md"))
    assert pages, "docs/ holds no page"
    return names_in("\n".join(page.read_text("utf-8") for page in pages))


def names_in(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"`([^`\n]+)`", text))


def unnamed(names: list[str], known: frozenset[str]) -> list[str]:
    return sorted(set(names) - known)


# ------------------------------------------------------- the rules themselves, on planted text


def test_a_name_missing_from_the_docs_is_seen() -> None:
    known = names_in("The state `ready` comes before `running`; later is a word, not a name.")

    assert unnamed(["ready", "running", "later"], known) == ["later"]
