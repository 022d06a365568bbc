"""How do rows of the main store become values of the domain?"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from holdfast.domain.bases import Base, BaseSettings, BaseStatus
from holdfast.domain.events import instant
from holdfast.domain.item_states import Status
from holdfast.domain.items import Item, ItemType, NewItem

Row = Sequence[Any]


def base_of(row: Row) -> Base:
    base, settings, status, error_code, space, paused, created_at, updated_at = row
    return Base(
        id=base,
        settings=BaseSettings(**json.loads(settings)),
        status=BaseStatus(status),
        error_code=error_code,
        space=space,
        paused=bool(paused),
        created_at=instant(created_at),
        updated_at=instant(updated_at),
    )


def json_text(value: Any) -> str:
    """JSON as it is written down; a path whose bytes are no text keeps them as escapes."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value)
    return text


def settings_text(settings: BaseSettings) -> str:
    return json_text(asdict(settings))


def item_of(row: Row) -> Item:
    return Item(
        id=row[0],
        base_id=row[1],
        parent_id=row[2],
        source_key=row[3],
        type=ItemType(row[4]),
        name=row[5],
        source=row[6],
        data=json.loads(row[7]),
        attributes=json.loads(row[8]),
        status=Status(row[9]),
        error_code=row[10],
        error=row[11],
        error_advice=row[12],
        warning=row[13],
        generation=row[14],
        published_build=row[15],
        published_generation=row[16],
        recipe=row[17],
        own_outcome=Status(row[18]) if row[18] else None,
        seen=row[19],
        size=row[20],
        workload=row[21],
        chunk_count=row[22],
        progress=row[23],
        skipped=json.loads(row[24]) if row[24] else None,
        indexed_at=_instant(row[25]),
        heartbeat_at=_instant(row[26]),
        created_at=instant(row[27]),
        updated_at=instant(row[28]),
        pending=row[29],
    )


def item_document(item: NewItem) -> dict[str, Any]:
    """A new item as the insert statement takes it."""
    code, error, advice = item.error or (None, None, None)
    return {
        "id": item.id,
        "base_id": item.base_id,
        "parent_id": item.parent_id,
        "source_key": item.source_key,
        "type": item.type,
        "container": int(item.is_container),
        "name": item.name,
        "source": item.source,
        "data": dict(item.data),
        "attributes": dict(item.attributes),
        "status": item.status,
        "error_code": code,
        "error": error,
        "error_advice": advice,
        "seen": item.seen,
        "size": item.size,
        "workload": item.workload,
    }


def _instant(stored: int | None) -> datetime | None:
    return None if stored is None else instant(stored)
