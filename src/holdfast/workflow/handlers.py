"""Which function does which kind of job?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from holdfast.domain.jobs import JobKind
from holdfast.jobs.run import Handler, Handlers, Run
from holdfast.workflow.check_file_processing_result import (
    check_file_processing_result,
    give_up_check,
)
from holdfast.workflow.delete_base import give_up_delete_base, run_delete_base
from holdfast.workflow.delete_subtree import delete_subtree, give_up_delete
from holdfast.workflow.index_bundle import index_bundle
from holdfast.workflow.index_document import give_up_index, index_document
from holdfast.workflow.prepare_root import give_up_prepare, prepare_root
from holdfast.workflow.reindex_subtree import give_up_reindex, reindex_subtree
from holdfast.workflow.room import with_reserve
from holdfast.workflow.workbench import Workbench


def handlers(kb: Workbench) -> Handlers:
    """The table the runner is handed."""
    return {
        JobKind.PREPARE_ROOT: Handler(partial(prepare_root, kb), partial(give_up_prepare, kb)),
        JobKind.INDEX_DOCUMENTS: Handler(
            partial(_expected, kb), partial(give_up_index, kb), partial(_expected_bundle, kb)
        ),
        JobKind.CHECK_FILE_PROCESSING_RESULT: Handler(
            partial(check_file_processing_result, kb), partial(give_up_check, kb)
        ),
        JobKind.REINDEX_SUBTREE: Handler(
            partial(reindex_subtree, kb), partial(give_up_reindex, kb)
        ),
        JobKind.DELETE_SUBTREE: Handler(
            _whatever_room(kb, delete_subtree), partial(give_up_delete, kb), endless=True
        ),
        JobKind.DELETE_BASE: Handler(
            _whatever_room(kb, run_delete_base), partial(give_up_delete_base, kb), endless=True
        ),
    }


def _expected(kb: Workbench, run: Run) -> None:
    """Others of its base may wait a moment for its texts, to share a call."""
    with kb.kitchen.expecting(run.base):
        index_document(kb, run)


def _expected_bundle(kb: Workbench, runs: Sequence[Run]) -> None:
    with kb.kitchen.expecting(runs[0].base):
        index_bundle(kb, runs)


def _whatever_room(kb: Workbench, act: Callable[[Workbench, Run], None]) -> Callable[[Run], None]:
    """Clean-ups make room: on a full disk they get the reserve."""
    return lambda run: with_reserve(kb, lambda: act(kb, run))
