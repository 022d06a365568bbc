"""Where are bases and items kept? The door, in the words of the domain."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from holdfast.domain.bases import Base, BaseSettings, BaseStatus
from holdfast.domain.chunks import Seal
from holdfast.domain.files import FileEntry, Role
from holdfast.domain.guards import Standing
from holdfast.domain.ids import BaseId, ClaimNo, EntryId, Generation, ItemId
from holdfast.domain.invariants import Violation
from holdfast.domain.item_states import Move, Status
from holdfast.domain.items import Attribute, Item, ItemType, NewItem, Page
from holdfast.domain.jobs import Fence
from holdfast.domain.progress import Tally

Trouble = tuple[str, str, str]  # code, sentence, advice: set if and only if something failed


@dataclass(frozen=True, slots=True)
class Moved:
    """An asked change of status: what the caller believes, and where it leads."""

    item: ItemId
    target: Status
    generation: Generation | None = None
    fence: Fence | None = None
    new_generation: bool = False
    trouble: Trouble | None = None
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class Published:
    """What a run tells of the build that answers from now on."""

    item: ItemId
    build: ClaimNo
    recipe: str
    seal: Seal
    size: int
    workload: int
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """Which items are asked for."""

    base: BaseId
    parent: ItemId | None = None
    everywhere: bool = False
    statuses: Collection[Status] | None = None
    type: str | None = None
    name: str | None = None
    include_deleting: bool = False
    cursor: str | None = None
    limit: int = 100


@dataclass(frozen=True, slots=True)
class Answering:
    """An item that may appear in an answer, and the build it answers with."""

    id: ItemId
    build: ClaimNo | None
    published_generation: Generation | None
    generation: Generation
    status: Status
    name: str
    source: str


@dataclass(frozen=True, slots=True)
class Filtered:
    """What a filter looks at (domain/filters.py)."""

    id: ItemId
    type: ItemType
    source: str
    attributes: Mapping[str, Attribute]
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Expected:
    """A build as it was recorded at its publish."""

    item: ItemId
    build: ClaimNo
    count: int
    digest: str


@dataclass(frozen=True, slots=True)
class Totals:
    """The leaves of a base in numbers."""

    leaves: int
    failed: int
    chunks: int
    size: int


class CatalogReads(Protocol):
    """What can be asked of bases and items in one snapshot."""

    def base(self, base: BaseId) -> Base | None: ...
    def bases(self, *, include_deleting: bool = False) -> list[Base]: ...
    def bases_named(self, name: str) -> list[Base]: ...
    def item(self, item: ItemId) -> Item | None: ...
    def items(self, ids: Collection[ItemId]) -> list[Item]: ...
    def list_items(self, listing: Listing) -> Page[Item]: ...

    def at_source(
        self, source: str, base: BaseId | None, limit: int, *, roots: bool = False
    ) -> list[Item]:
        """What was added from exactly this place; `roots`: by a user, not found in a container."""

    def at_source_ending(self, tail: str, base: BaseId | None, limit: int) -> list[Item]: ...
    def named(self, name: str, base: BaseId | None, limit: int) -> list[Item]: ...

    def by_piece_of_id(self, piece: str, base: BaseId | None, limit: int) -> list[Item]:
        """Items whose id begins or ends like this."""

    def ancestors(self, ids: Collection[ItemId]) -> dict[ItemId, list[ItemId]]: ...

    def subtree(self, roots: Collection[ItemId], stale: Stale | None = None) -> list[Standing]:
        """The roots and all below, deleting ones too; past its bounds as section 7 has them."""

    def deleting_below(self, root: ItemId) -> int: ...
    def completed_leaves(self, root: ItemId) -> list[tuple[ItemId, ClaimNo]]: ...
    def masked(self, base: BaseId) -> set[ItemId]: ...

    def answering(self, base: BaseId, ids: Collection[ItemId]) -> dict[ItemId, Answering]:
        """Of these items, those that may be shown at this moment."""

    def filterable(self, base: BaseId) -> list[Filtered]:
        """Every item that may answer, as filters see it."""

    def published(self, base: BaseId, ids: Collection[ItemId]) -> set[tuple[ItemId, ClaimNo]]:
        """The builds these items answer with; deleting items keep theirs until they are gone."""

    def unsettled(self, ids: Collection[ItemId]) -> list[ItemId]:
        """Of these, the items that have work left: not terminal, not gone, or a pending job."""

    def expected_builds(self, base: BaseId) -> list[Expected]: ...

    def violations(self, caps: Mapping[str, int]) -> list[Violation]:
        """Every row of the main store that disagrees with an invariant."""

    def leftovers(self) -> list[Violation]:
        """What will not go away by itself and is in nobody's way."""

    def stored_entries(self) -> list[FileEntry]:
        """Everything that was stored and not let go."""

    def lost_leaves(self, base: BaseId, limit: int) -> list[ItemId]:
        """Leaves that answer with, or failed for want of, an index that is gone."""

    def idle_items(self, base: BaseId, limit: int) -> list[ItemId]: ...
    def counts(self, base: BaseId) -> dict[Status, int]: ...
    def percent(self, base: BaseId) -> int: ...
    def percent_below(self, container: ItemId) -> int: ...

    def tally_below(self, roots: Collection[ItemId]) -> Tally:
        """How the leaves of these subtrees stand; overlapping ones are counted once."""

    def failed_below(self, roots: Collection[ItemId], limit: int) -> list[Item]:
        """What failed by itself: leaves, and containers that could not be listed."""

    def totals(self, base: BaseId) -> Totals: ...

    def children(self, parent: ItemId, keys: Collection[str]) -> dict[str, Item]: ...
    def unseen(self, parent: ItemId, generation: Generation, limit: int) -> list[ItemId]:
        """Children that no listing of this generation has met."""

    def unseen_count(self, parent: ItemId, generation: Generation) -> int: ...

    def jobless_below(self, container: ItemId) -> list[ItemId]:
        """What is active below a container and has neither a job nor, inside it, anything else."""

    def entries(self, item: ItemId, role: Role) -> list[FileEntry]: ...
    def known_entries(self, ids: Collection[EntryId]) -> set[EntryId]: ...


@dataclass(frozen=True, slots=True)
class Stale:
    """Heartbeats older than these (stored times) count as past their bounds."""

    queued_before: int
    indexing_before: int


class CatalogWrites(CatalogReads, Protocol):
    """What can be changed, inside one transaction."""

    def insert_base(self, base: BaseId, settings: BaseSettings) -> None: ...
    def update_base(self, base: BaseId, settings: BaseSettings, paused: bool) -> None: ...
    def set_base_state(self, base: BaseId, status: BaseStatus, code: str | None) -> bool: ...

    def delete_base_rows(self, base: BaseId, limit: int) -> bool:
        """Remove at most `limit` rows of a deleting base; True when the base itself is gone."""

    def insert_items(self, items: Sequence[NewItem]) -> None: ...

    def move(self, move: Move, moved: Sequence[Moved]) -> set[ItemId]:
        """Those of the asked moves that were allowed; parents are rolled up with them."""

    def move_or_end(self, move: Move, moved: Moved) -> None:
        """This one move, or Superseded / ItemDeleting / ItemGone."""

    def publish(self, published: Sequence[Published]) -> None:
        """After the move to completed, in the same transaction."""

    def forget_builds(self, items: Collection[ItemId]) -> None:
        """Their builds are gone: nothing answers for them until the next publish."""

    def republish(self, item: ItemId) -> None: ...
    def roll_up(self, containers: Collection[ItemId]) -> None: ...
    def set_progress(self, fence: Fence, percent: int) -> None: ...

    def set_own_outcome(
        self,
        item: ItemId,
        generation: Generation,
        outcome: Status,
        trouble: Trouble | None,
        skipped: Mapping[str, Any] | None,
    ) -> None: ...

    def set_skipped(
        self, item: ItemId, generation: Generation, skipped: Mapping[str, Any] | None
    ) -> None: ...

    def set_source(self, item: Item) -> None: ...
    def set_attributes(self, item: ItemId, attributes: Mapping[str, Attribute]) -> None: ...
    def mark_seen(self, ids: Collection[ItemId], generation: Generation) -> None: ...

    def delete_rows(self, roots: Collection[ItemId], limit: int) -> int:
        """Remove rows of deleting subtrees, leaf first, with their file refs; how many."""

    def keep_entry(self, entry: FileEntry, item: ItemId, role: Role) -> None: ...
    def keep_only(self, item: ItemId, role: Role, entry: EntryId | None) -> None: ...
    def detach_dangling(self) -> int: ...

    def drop_free_entries(self) -> list[FileEntry]:
        """Forget entries nobody refers to; their bytes may go once this is on disk."""
