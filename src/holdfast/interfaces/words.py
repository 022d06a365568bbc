"""How is what the engine knows said to other programs? One vocabulary for every door.

Fields are the library's, in camelCase; times are ISO 8601 in UTC with a Z. What a user chose as a
key (attributes, statuses, ids) is left as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from holdfast.domain.errors import HoldfastError
from holdfast.domain.events import Event
from holdfast.domain.item_states import index_status
from holdfast.domain.items import Item, Page, Refused
from holdfast.workflow.explain import Explanation
from holdfast.workflow.overview import Overview
from holdfast.workflow.queue import MOST_IDS, Queue
from holdfast.workflow.reindex_items import Reindexed

Document = dict[str, Any]


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


def iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def plain(value: Any) -> Any:
    """A value of the library as JSON has it."""
    match value:
        case Enum():
            return value.value
        case datetime():
            return iso(value)
        case Mapping():
            return {str(key): plain(inner) for key, inner in value.items()}
        case tuple() | list():
            return [plain(inner) for inner in value]
        case AbstractSet():
            return sorted(plain(inner) for inner in value)
        case _ if is_dataclass(value):
            return {camel(each.name): plain(getattr(value, each.name)) for each in fields(value)}
        case _:
            return value


def item_document(item: Item, percent: int | None = None) -> Document:
    """An item; `percent` is a container's progress, which its row does not hold."""
    document: Document = plain(item)
    document["groupId"] = document.pop("parentId")
    document["progress"] = item.progress if percent is None else percent
    document["deleting"] = item.deleting
    document["indexStatus"] = index_status(item.status, item.is_container)
    return document


def page_document(page: Page[Any]) -> Document:
    return {
        "items": [
            item_document(one) if isinstance(one, Item) else plain(one) for one in page.items
        ],
        "nextCursor": page.next_cursor,
    }


def base_document(seen: Overview) -> Document:
    """A base: its settings beside its state and its numbers, in one object."""
    document: Document = plain(seen)
    base = document.pop("base")
    settings = base.pop("settings")
    return {"id": base.pop("id"), **settings, **base, **document}


def refused_document(refused: Refused) -> Document:
    """An input that was not accepted."""
    return {**plain(refused), "itemId": None}


def failed_document(item: Item, index: int | None) -> Document:
    """An item that was accepted and could not be finished, in the shape of a refused input."""
    return {
        "index": index,
        "itemId": item.id,
        "path": item.source,
        "error": item.error,
        "code": item.error_code,
        "advice": item.error_advice,
    }


def reindexed_document(reindexed: Reindexed) -> Document:
    return {
        "itemIds": [item.id for item in reindexed.items],
        "skipped": [
            {"itemId": item, "status": status.value, "reason": reason}
            for item, status, reason in reindexed.skipped
        ],
    }


def queue_document(whole: Queue, parts: Sequence[Queue]) -> Document:
    """One base's queue; of several, what can be added up (a percentage cannot)."""
    document: Document = plain(whole)
    if len(parts) == 1:
        return {**document, **plain(parts[0]), "perBase": document["perBase"]}
    for counter in ("active_count", "orphan_count", "deleting_count"):
        document[camel(counter)] = sum(getattr(part, counter) for part in parts)
    for ids in ("active_item_ids", "orphan_item_ids"):
        document[camel(ids)] = [one for part in parts for one in getattr(part, ids)][:MOST_IDS]
    del document["percent"]
    return document


def explanation_document(explanation: Explanation) -> Document:
    document: Document = plain(explanation)
    item = document.pop("item")
    return {"itemId": item["id"], "name": item["name"], "status": item["status"], **document}


def event_document(event: Event) -> Document:
    document: Document = plain(event)
    return document


def error_document(error: HoldfastError, advice: str | None = None) -> Document:
    """What every door answers when something was refused; `advice` in the door's own words."""
    return {
        "error": {
            "code": error.code,
            "message": str(error),
            "advice": advice or error.advice,
            "blocking": plain(error.blocking),
        }
    }
