"""Which guards are there, and how is each taken away? The simulator must miss every one of them.

A guard behind which another one stands is declared redundant, with the reason; it stays as a
second line. Everything else has to be found by some seed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from holdfast.domain.ids import BaseId, ClaimNo
from holdfast.stores.index import Pair
from holdfast.stores.memory_index import MemoryIndex
from holdfast.stores.memory_world import World
from holdfast.testing.mutation import (
    Mutant,
    Switch,
    function,
    schema,
    source,
    statement,
    together,
)
from holdfast.workflow import sweep

WORKFLOW = "holdfast.workflow"
DURABLE = "    kb.main.durable()\n"


def _drops_all_others(
    self: MemoryIndex, base: BaseId, builds: Collection[Pair], live: Collection[ClaimNo]
) -> None:
    kept = dict(builds)
    self._remove(base, "drop_before", lambda p: p[1] != kept.get(p[0], p[1]), live)


def _keeps_everything(*_: Any, **__: Any) -> None:
    return None


def _syncs_late() -> Switch:
    """Index commits are on disk some day: only what removes waits for the disk."""
    return function("holdfast.testing.watch:Watch.index_syncs", instead=False)


def _swept_without(name: str) -> Switch:
    """The sweep leaves one of its steps out."""
    others = tuple(step for step in sweep.STEPS if step.__name__ != name)
    assert len(others) == len(sweep.STEPS) - 1, f"the sweep has no step {name}"

    @contextmanager
    def off() -> Iterator[None]:
        with patch.object(sweep, "STEPS", others):
            yield

    return off


def _not_durable(verb: str) -> Switch:
    return source(f"{WORKFLOW}.{verb}", DURABLE, "")


T1_OFF = schema("WHEN old.status = 'deleting' AND new.status <> 'deleting'", "WHEN 0")
T2_OFF = schema("WHEN (new.parent_id IS NOT NULL AND NOT EXISTS", "WHEN 0 AND (0 OR NOT EXISTS")
T4_OFF = schema(
    "AND new.status IN ('preparing', 'processing', 'reading', 'embedding')\nB", "AND 0\nB"
)
T5_OFF = schema("AND new.progress < old.progress", "AND 0")
ANY_SOURCE = statement(
    "catalog",
    "move_items",
    "AND items.status IN (SELECT value FROM json_each(:sources))",
    "AND (items.status <> 'gone' OR :sources)",
)
ANY_GENERATION = statement(
    "catalog",
    "move_items",
    "AND (asked.generation IS NULL OR items.generation = asked.generation)",
    "",
)
ANY_CLAIM = statement("catalog", "move_items", "AND jobs.claim = asked.claim", "")
ANY_STATE = statement("catalog", "move_items", "AND jobs.state = 'running'", "")
NO_EPOCH = statement(
    "queue",
    "raise_epoch",
    "last_claim = (max(epoch, :above / 1000000000) + 1) * 1000000000",
    "last_claim = last_claim + 0 * :above",
)
_with_empty = World.with_empty
BEGIN_KEEPS = function(
    "holdfast.stores.memory_world:World.with_empty",
    lambda self, pair: self if pair in self.builds else _with_empty(self, pair),
)

_ALL = (
    # -- delete wins
    Mutant(
        "delete_wins",
        "a deleting item stays so: by trigger, by sources, by generation",
        together(T1_OFF, ANY_SOURCE, ANY_GENERATION, ANY_STATE),
    ),
    Mutant(
        "search_hides_deleting",
        "an answer shows nothing that is being deleted: not ranked, not shown",
        together(
            statement("catalog", "standing_of", "AND items.status <> 'deleting'", ""),
            statement("catalog", "masked", "AND status = 'deleting'", "AND 0"),
        ),
    ),
    Mutant(
        "last_look",
        "a search looks at the items' states as its last act",
        function(f"{WORKFLOW}.search:_last_look", lambda _kb, hits: tuple(hits)),
    ),
    Mutant(
        "list_hides_deleting",
        "a list shows nothing that is being deleted",
        statement("catalog", "list_everywhere", "AND (:deleting OR status <> 'deleting')", ""),
    ),
    Mutant(
        "deletes_whole_subtrees",
        "what is inside a deleting item is deleting",
        source(
            f"{WORKFLOW}.delete_items:mark_deleting",
            "tx.subtree([root.id for root in roots])",
            "[one for one in tx.subtree([root.id for root in roots]) if one.id in "
            "{root.id for root in roots}]",
        ),
    ),
    Mutant(
        "nothing_born_under_deleting",
        "no child under a deleting parent: by trigger, and by reading the container again",
        together(
            T2_OFF,
            function(f"{WORKFLOW}.prepare_root:_ours", lambda tx, run: tx.item(run.item)),
        ),
    ),
    # -- fences
    Mutant("fenced_by_generation", "an older attempt writes nothing", ANY_GENERATION),
    Mutant("fenced_by_claim", "an older run writes nothing", ANY_CLAIM),
    Mutant(
        "fenced_at_all",
        "a run that lost its job writes nothing",
        together(ANY_GENERATION, statement("catalog", "move_items", "asked.job IS NULL", "1")),
    ),
    Mutant(
        "one_run_per_item",
        "an item with a running job is not handed out again",
        statement("queue", "heads", "AND other.state = 'running'", "AND 0"),
    ),
    Mutant(
        "finish_is_fenced",
        "only the run that has the job ends it",
        statement("queue", "finish_jobs", "AND jobs.claim = asked.claim AND", "AND"),
    ),
    Mutant(
        "reindex_is_fenced",
        "a re-index of a lost lease restarts nothing",
        function(f"{WORKFLOW}.reindex_subtree:still_running", lambda _tx, _run: True),
    ),
    # -- what is on disk before what
    Mutant("sealed_before_published", "the build is on disk before its publish", _syncs_late()),
    Mutant(
        "published_before_dropped",
        "the publish is on disk before the older build goes",
        together(
            _not_durable("index_document:index_taken"), _not_durable("index_bundle:index_bundle")
        ),
    ),
    Mutant(
        "accepted_is_durable", "an accepted item is on disk", _not_durable("add_items:add_items")
    ),
    Mutant("deleted_is_durable", "a delete is on disk", _not_durable("delete_items:_delete")),
    Mutant("updated_is_durable", "an update is on disk", _not_durable("update_item:update_item")),
    Mutant(
        "marks_before_chunks",
        "delete marks are on disk before chunks go",
        source(
            f"{WORKFLOW}.delete_subtree:delete_subtree",
            "    kb.main.durable()  # the marks, before anything they announce is done\n",
            "",
        ),
    ),
    Mutant(
        "rows_before_bytes",
        "rows are on disk as gone before their bytes are",
        source(
            f"{WORKFLOW}.delete_subtree:delete_subtree",
            "    kb.main.durable()  # the rows, before the bytes they named\n",
            "",
        ),
    ),
    Mutant(
        "durable_waits_for_the_disk",
        "durable() is a FULL commit",
        function("holdfast.stores.sqlite.main:SqliteMain._sync", _keeps_everything),
    ),
    # -- claims and builds
    Mutant(
        "drops_smaller_numbers_only",
        "a late drop leaves a newer build alone",
        function("holdfast.stores.memory_index:MemoryIndex.drop_before", _drops_all_others),
    ),
    Mutant(
        "new_epoch_at_every_start",
        "a claim number is never used twice, whatever the power took",
        NO_EPOCH,
        redundant="begin removes whatever bore the number (claim_numbers_are_new)",
    ),
    Mutant(
        "begin_clears_its_number",
        "whatever bore the claim's number is removed first",
        BEGIN_KEEPS,
        redundant="claim numbers are never used twice (claim_numbers_are_new)",
    ),
    Mutant(
        "claim_numbers_are_new",
        "the same, with both guards away: neither a new epoch nor a cleared number",
        together(NO_EPOCH, BEGIN_KEEPS),
    ),
    Mutant(
        "sweep_spares_the_living",
        "the sweep leaves the builds of running claims alone",
        source(f"{WORKFLOW}.sweep:leftover_builds", " if pair[1] not in live}", "}"),
    ),
    Mutant(
        "sweep_lists_first",
        "builds are listed before the main store is read",
        source(
            f"{WORKFLOW}.sweep:leftover_builds",
            "    listed = {",
            "    with kb.main.read() as early:\n"
            "        early_live = early.live_claims()\n"
            "    listed = {",
            "        live = snapshot.live_claims()\n",
            "        live = early_live\n",
        ),
    ),
    # -- repairs
    Mutant(
        "foreign_runs_are_freed",
        "runs of an owner that is gone go on",
        statement("queue", "rescue_foreign", "owner <> :owner", "owner <> :owner AND 0"),
    ),
    Mutant(
        "leftover_builds_are_swept",
        "builds of dead runs go",
        _swept_without("remove_leftover_builds"),
    ),
    Mutant(
        "unknown_files_are_swept",
        "bytes without rows go",
        _swept_without("unlink_unknown_files"),
    ),
    Mutant(
        "ages_by_a_steady_clock",
        "bytes that wait for their row stay, whatever the clock on the wall does",
        function("holdfast.machine.ages:Ages.of", lambda _self, files: list(files)),
    ),
    Mutant(
        "nothing_left_behind_a_base",
        "what a run scheduled in a base that goes, goes with it",
        together(
            source(
                f"{WORKFLOW}.delete_base:_remove_slice",
                "tx.cancel_base(run.base)  # again",
                "pass  # not again",
            ),
            source(
                f"{WORKFLOW}.reindex_subtree:_restart_root",
                "base.status is BaseStatus.DELETING or ",
                "",
            ),
        ),
    ),
    Mutant(
        "deletes_are_enqueued_again",
        "a delete whose job was refused is taken up",
        _swept_without("delete_again"),
    ),
    Mutant(
        "refused_items_fail",
        "an item whose job is refused does not wait for ever",
        source(
            f"{WORKFLOW}.schedule_item:schedule_jobs",
            "            _fail(tx, living[number:], refusal)\n",
            "",
        ),
    ),
    Mutant(
        "undone_cancels_are_given_back",
        "a cancel that was rolled back ends nothing",
        source(
            "holdfast.jobs.outcomes:Outcomes.failed",
            'tx.give_back(run.fence, None, "not cancelled after all", counts=False, trouble=None)',
            "tx.finish([run.fence], JobState.CANCELLED)",
        ),
    ),
    # -- processing
    Mutant(
        "checks_are_fenced",
        "a look whose item was deleted or changed keeps nothing",
        function(
            f"{WORKFLOW}.check_file_processing_result:_ours", lambda tx, run: tx.item(run.item)
        ),
    ),
    Mutant(
        "processing_ends",
        "what makes no progress is given up",
        function("holdfast.domain.processing:RemoteJob.overdue", lambda _self, _longest: None),
    ),
    Mutant(
        "processed_bytes_before_rows",
        "what was made is on disk before its rows",
        source(
            f"{WORKFLOW}.check_file_processing_result:_keep",
            "    kb.files.keep(entry.path, converted.content)\n",
            "",
        ),
    ),
    Mutant(
        "leftover_processing_is_forgotten",
        "what nobody asks for any more is forgotten",
        _swept_without("forget_leftovers"),
    ),
    Mutant(
        "remote_id_is_durable",
        "a service's id is on disk before it is asked for",
        source(
            f"{WORKFLOW}.check_file_processing_result:_submit",
            "    kb.main.durable()  # the id, before anybody waits for what it names\n",
            "",
        ),
        redundant="what the power takes is submitted again: it costs a conversion, not an item",
    ),
    # -- states
    Mutant(
        "containers_are_rolled_up",
        "a container's status follows its children",
        function("holdfast.stores.sqlite.catalog:SqliteCatalogWrites.roll_up", _keeps_everything),
    ),
    Mutant(
        "progress_only_grows",
        "T5",
        together(
            T5_OFF,
            statement("catalog", "set_progress", "max(progress, :percent)", ":percent"),
        ),
    ),
    Mutant(
        "vectors_are_checked",
        "unusable vectors are not kept",
        function(f"{WORKFLOW}.embed_missing:checked", lambda vectors, _count, _width: vectors),
    ),
    Mutant(
        "vectors_are_there",
        "a chunk is written with its vector only",
        function(
            "holdfast.stores.memory_world:World.missing", lambda _self, _space, _hashes: set()
        ),
    ),
    Mutant(
        "attempts_end",
        "an item that keeps failing is failed",
        function(
            "holdfast.jobs.outcomes:after_failure",
            lambda error, _attempt, jitter: _again(error, jitter),
        ),
    ),
)


def _again(error: Exception, jitter: float) -> Any:
    from holdfast.domain.retries import after_failure

    return after_failure(error, 0, jitter)


MUTANTS: dict[str, Mutant] = {mutant.name: mutant for mutant in _ALL}
