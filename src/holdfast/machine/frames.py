"""How do a child and its owner talk? In frames: a kind, a length, and a JSON value."""

from __future__ import annotations

import json
import struct
from enum import IntEnum
from typing import Any

from holdfast.domain.errors import DiskFull, Permanent, StageFailed, Transient

HEADER = struct.Struct("!BI")
LONGEST_FRAME = 64 << 20


class Kind(IntEnum):
    """What a frame is."""

    ANSWER = 1
    ERROR = 2
    END = 3


def frame(kind: Kind, value: Any = None) -> bytes:
    body = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    content = body.encode("utf-8", "surrogatepass")
    return HEADER.pack(kind, len(content)) + content


def unframed(buffer: bytearray) -> tuple[Kind, Any] | None:
    """The first whole frame, taken out of the buffer; ValueError when this is none of ours."""
    if len(buffer) < HEADER.size:
        return None
    kind, length = HEADER.unpack_from(buffer)
    if length > LONGEST_FRAME:
        raise ValueError(f"a frame of {length} bytes")
    end = HEADER.size + length
    if len(buffer) < end:
        return None
    content = bytes(buffer[HEADER.size : end])
    del buffer[:end]
    try:
        return Kind(kind), json.loads(content.decode("utf-8", "surrogatepass"))
    except RecursionError as error:
        raise ValueError("an answer nested too deeply") from error


def told(error: StageFailed) -> dict[str, Any]:
    """An error in words that another process can raise again."""
    return {
        "passing": isinstance(error, Transient),
        "message": str(error),
        "code": error.code,
        "advice": error.advice,
        "retry_after": error.retry_after if isinstance(error, Transient) else None,
    }


def untold(words: Any) -> StageFailed:
    """That error; whatever is wrong with its words is a failure of the parser."""
    try:
        kind = _kind_of(words["code"], passing=words["passing"])
        error = kind(str(words["message"]), code=words["code"], advice=str(words["advice"]))
        if isinstance(error, Transient):
            error.retry_after = words["retry_after"]
    except (KeyError, TypeError):
        return Permanent("the parser failed without saying why", code="parser_failed")
    return error


def _kind_of(code: str, *, passing: bool) -> type[Permanent | Transient]:
    if not passing:
        return Permanent
    return DiskFull if code == DiskFull.default_code else Transient
