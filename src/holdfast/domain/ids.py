"""Which thing is meant? Identities that cannot be handed over as one another."""

from __future__ import annotations

from typing import NewType

BaseId = NewType("BaseId", str)
ItemId = NewType("ItemId", str)
EntryId = NewType("EntryId", str)
JobId = NewType("JobId", int)
Generation = NewType("Generation", int)
ClaimNo = NewType("ClaimNo", int)
TextHash = NewType("TextHash", str)

CLAIMS_PER_EPOCH = 10**9


def first_claim(epoch: int) -> ClaimNo:
    """The number below every claim of this epoch and above every claim of an earlier one."""
    return ClaimNo(epoch * CLAIMS_PER_EPOCH)


def born(identity: str) -> float:
    """When an id of ours was given: wall seconds, to the millisecond."""
    return int(identity[:8] + identity[9:13], 16) / 1_000


def uuid7(milliseconds: int, randomness: int) -> str:
    """A UUIDv7 from wall time and 74 random bits: ids sort by the time they were given."""
    value = (milliseconds & (1 << 48) - 1) << 80
    value |= 7 << 76
    value |= (randomness >> 62 & 0xFFF) << 64
    value |= 0b10 << 62
    value |= randomness & (1 << 62) - 1
    text = f"{value:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
