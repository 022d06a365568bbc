"""Which item does a person mean: by its id or an end of it, its place, or its name?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from holdfast.domain.addresses import address_of, is_web
from holdfast.domain.errors import HoldfastError, InvalidInput, NotFound
from holdfast.domain.ids import BaseId, ItemId
from holdfast.domain.items import Item
from holdfast.domain.paths import as_text
from holdfast.stores.main import Snapshot
from holdfast.workflow.workbench import Workbench

SHORTEST_PIECE = 4
NAMED = 5
PIECE_OF_ID = re.compile(r"[0-9a-f-]+")


def find_item(kb: Workbench, text: str, base: BaseId | None = None) -> Item:
    """The one item meant; NotFound, or InvalidInput naming several that it could be.

    The first of these that fits anything decides: the whole id, the place it came from (as given,
    or from the working folder), its name, the last parts of its path, either end of its id.
    """
    if not text.strip():
        raise InvalidInput("an item is named by its id, its path or its name, not by nothing")
    text = as_text(text)
    with kb.main.read() as snapshot:
        for found in _ways(kb, snapshot, text, base):
            if found:
                return _only(found, text)
    raise NotFound(f"there is no item {text!r}")


def roots_at(kb: Workbench, base: BaseId, paths: Sequence[str]) -> dict[str, Item]:
    """Of these paths and addresses those a user has added before, with the first item of each."""
    found: dict[str, Item] = {}
    with kb.main.read() as snapshot:
        for path in paths:
            for place in _places(kb, path):
                known = snapshot.at_source(as_text(place), base, 1, roots=True)
                if known and (known[0].data.get("path") or known[0].data.get("url")):
                    found.setdefault(path, known[0])
    return found


def _places(kb: Workbench, text: str) -> list[str]:
    """How an item may say where it came from: as it was given, or in one form."""
    if not is_web(text):
        return [kb.files.absolute(text)]
    with suppress(HoldfastError):
        return [text, str(address_of(text))]
    return [text]


def _ways(
    kb: Workbench, snapshot: Snapshot, text: str, base: BaseId | None
) -> Iterator[list[Item]]:
    exact = snapshot.item(ItemId(text))
    yield [exact] if exact and base in (None, exact.base_id) else []
    for place in dict.fromkeys((text, *_places(kb, text))):
        yield snapshot.at_source(place, base, NAMED + 1)
    yield snapshot.named(text, base, NAMED + 1)
    yield snapshot.at_source_ending(text.removeprefix("./").strip("/"), base, NAMED + 1)
    if len(text) >= SHORTEST_PIECE and PIECE_OF_ID.fullmatch(text.lower()):
        yield snapshot.by_piece_of_id(text.lower(), base, NAMED + 1)


def _only(found: Sequence[Item], text: str) -> Item:
    if len(found) == 1:
        return found[0]
    several = ", ".join(f"{item.id} ({item.source})" for item in found[:NAMED])
    more = ", …" if len(found) > NAMED else ""
    raise InvalidInput(
        f"{text!r} fits several items: {several}{more}",
        advice="name one of them by its id",
    )
