"""How is a base made, changed, paused and found fit?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.domain.bases import Base, BaseSettings, BaseStatus, changed, checked, within
from holdfast.domain.errors import HoldfastError, InvalidInput, NotFound
from holdfast.domain.given import is_text
from holdfast.domain.ids import BaseId
from holdfast.stores.main import Transaction
from holdfast.workflow.take import embedder_of
from holdfast.workflow.workbench import Workbench


def create_base(kb: Workbench, settings: BaseSettings) -> Base:
    """A new base with its empty index; the model is resolved first, so a typo makes nothing."""
    settings = checked(settings)
    if settings.embedding_model is not None and settings.dimensions is not None:
        model = kb.embedders.resolve(settings.embedding_model, settings.dimensions)
        settings = within(settings, model.max_tokens)
    if settings.rerank_model is not None:
        kb.rerankers.resolve(settings.rerank_model)
    _may_process(kb, settings.file_processor_id)
    base_id = BaseId(kb.ids.new())
    kb.index.create(base_id)  # a crash before the row leaves an index that the sweep finds
    with kb.main.write() as tx:
        tx.insert_base(base_id, settings)
        base = known(tx, base_id)
    kb.main.durable()
    return base


def update_base(kb: Workbench, base_id: BaseId, changes: Mapping[str, Any]) -> Base:
    wanted = changes.get("rerank_model")
    if is_text(wanted):
        kb.rerankers.resolve(wanted)
    _may_process(kb, changes.get("file_processor_id"))
    most = _most_tokens(kb, base_id)
    with kb.main.write() as tx:
        base = known(tx, base_id)
        tx.update_base(base_id, within(changed(base.settings, changes), most), base.paused)
        base = known(tx, base_id)
    kb.main.durable()
    return base


def _may_process(kb: Workbench, processor: object) -> None:
    """A processor that is not declared here would fail every document given to it."""
    if is_text(processor) and processor not in kb.settings.processors:
        known = ", ".join(sorted(kb.settings.processors)) or "none"
        raise InvalidInput(
            f"file_processor_id is {processor!r}; it takes the name of a [processors.NAME] of the "
            f"settings: {known}"
        )


def _most_tokens(kb: Workbench, base_id: BaseId) -> int | None:
    """What the base's model takes; asked outside of the transaction that writes."""
    with kb.main.read() as snapshot:
        base = snapshot.base(base_id)
    try:
        model = None if base is None else embedder_of(kb, base)
    except HoldfastError:
        return None  # the base is failed, and says so
    return None if model is None else model.max_tokens


def set_paused(kb: Workbench, base_id: BaseId, paused: bool) -> Base:
    """A paused base starts no index and control jobs; what runs, runs on."""
    with kb.main.write() as tx:
        base = known(tx, base_id)
        tx.update_base(base_id, base.settings, paused)
        base = known(tx, base_id)
        if not paused:
            tx.wake()
    kb.main.durable()
    return base


def check_models(kb: Workbench) -> None:
    """A base whose model cannot be resolved is failed until it can."""
    with kb.main.read() as snapshot:
        bases = snapshot.bases()
    for base in bases:
        status, code = _fitness(kb, base)
        if (status, code) != (base.status, base.error_code):
            with kb.main.write() as tx:
                tx.set_base_state(base.id, status, code)
                tx.wake()


def _fitness(kb: Workbench, base: Base) -> tuple[BaseStatus, str | None]:
    model, width = base.settings.embedding_model, base.settings.dimensions
    if base.error_code == "missing_vector_store":
        return base.status, base.error_code
    if model is None or width is None:
        return BaseStatus.COMPLETED, None
    try:
        kb.embedders.resolve(model, width)
    except HoldfastError as error:
        return BaseStatus.FAILED, error.code
    return BaseStatus.COMPLETED, None


def known(tx: Transaction, base_id: BaseId) -> Base:
    base = tx.base(base_id)
    if base is None or base.status is BaseStatus.DELETING:
        raise NotFound(f"there is no base {base_id}")
    return base
