"""What do the users of a simulated world do, and what do they then rely on?

Each operation is a call of the verbs that the doors call. It is told to the expectations before it
is made (it may have happened) and after it returned (it has). A refusal by a guard and a fault that
reaches the caller are ordinary; anything else is a finding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from holdfast.domain.errors import GuardRejected, HoldfastError, StageFailed, TimedOut, Unavailable
from holdfast.domain.ids import BaseId
from holdfast.domain.items import File, Input, Note
from holdfast.testing.case import Step
from holdfast.testing.contents import content_of
from holdfast.testing.expectations import Known
from holdfast.workflow.add_items import add_items
from holdfast.workflow.delete_items import delete_items
from holdfast.workflow.reindex_items import reindex_items
from holdfast.workflow.update_item import Change, update_item
from holdfast.workflow.workbench import Workbench

if TYPE_CHECKING:
    from holdfast.testing.world import World

ORDINARY = (GuardRejected, StageFailed, Unavailable, TimedOut)
MOST_ADDED = 4


class Client:
    """One user of one living process."""

    def __init__(self, world: World, kb: Workbench) -> None:
        self.world, self.kb = world, kb
        self.known = world.expectations

    def take(self, step: Step) -> None:
        """Do one step; what a user may meet is no finding."""
        try:
            OPERATIONS[step.operation](self, step)
        except ORDINARY as error:
            self.world.kernel.note("client", f"{step.operation}: {type(error).__name__} {error}")
        except HoldfastError as error:
            self.world.kernel.found(f"{step.operation} raised {type(error).__name__}: {error}")

    # -- what is chosen

    def base(self, step: Step) -> BaseId | None:
        bases = [base for base in self.known.bases if base not in self.known.bases_deleted]
        return bases[step.second % len(bases)] if bases else None

    def free(self, step: Step, base: BaseId | None) -> Known | None:
        """One of the items that nobody else is changing just now."""
        living = [known for known in self.known.living(base) if not known.busy]
        return living[step.first % len(living)] if living else None

    # -- what is done

    def add(self, base: BaseId, inputs: Sequence[Input], contents: Sequence[str]) -> None:
        """Accepted means accepted; a call that fails may have been accepted all the same."""
        added = add_items(self.kb, base, inputs)
        refused = {one.index for one in added.failed}
        kept = [n for n in range(len(inputs)) if n not in refused]
        for item, n in zip(added.created, kept, strict=True):
            given = inputs[n]
            path = given.path if isinstance(given, File) else None
            known = self.known.accepted(item.id, base, contents[n], path)
            if path is not None:
                known.history |= self.world.written[path]

    def add_notes(self, step: Step) -> None:
        base = self.base(step)
        if base is None:
            return
        texts = self.texts(step, 1 + step.first % MOST_ADDED)
        self.add(base, [Note(text) for text in texts], texts)

    def texts(self, step: Step, count: int) -> list[str]:
        number = self.known.next_number
        return [content_of(number(), step.second * 31 + step.first + n) for n in range(count)]

    def add_upload(self, step: Step) -> None:
        base = self.base(step)
        if base is not None:
            texts = self.texts(step, 1 + step.first % 2)
            files = [File(content=text.encode(), name=f"up{n}.md") for n, text in enumerate(texts)]
            self.add(base, files, texts)

    def add_file(self, step: Step) -> None:
        base, path = self.base(step), self.path(step)
        if base is not None:
            if path not in self.world.landscape.user:
                self.world.save(path, self.texts(step, 1)[0])
            self.add(base, [File(path)], [self.world.landscape.user[path].decode()])

    def path(self, step: Step) -> str:
        return f"/home/user/file{step.first % 4}.md"

    def change_file(self, step: Step) -> None:
        self.world.save(self.path(step), self.texts(step, 1)[0])

    def remove_file(self, step: Step) -> None:
        self.world.landscape.remove(self.path(step))

    def update(self, step: Step) -> None:
        known = self.free(step, self.base(step))
        if known is None or known.path is not None:
            return
        text = self.texts(step, 1)[0]
        known.busy = True
        known.attempt(text)
        try:
            note = known.id in self.world.notes
            update_item(self.kb, known.id, Change(content=text if note else text.encode()))
            known.promise(text)
        finally:
            known.busy = False

    def delete(self, step: Step) -> None:
        base = self.base(step)
        living = self.known.living(base)
        if base is None or not living:
            return
        count = 1 + step.second % 3
        chosen = {living[(step.first + n) % len(living)].id: None for n in range(count)}
        for item in chosen:
            self.known.items[item].delete_asked = True
        delete_items(self.kb, base, list(chosen))
        for item in chosen:
            self.known.items[item].deleted = True

    def reindex(self, step: Step) -> None:
        base = self.base(step)
        living = self.known.living(base)
        if base is not None and living:
            chosen = {living[(step.first + n) % len(living)].id: None for n in range(3)}
            skip, force = bool(step.second & 1), not step.second & 14
            reindex_items(self.kb, base, list(chosen), skip_active=skip, force=force)


OPERATIONS: dict[str, Callable[[Client, Step], None]] = {}
