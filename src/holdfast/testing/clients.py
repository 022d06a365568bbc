"""What do the users of a simulated world do, and what do they then rely on?

Each operation is a call of the verbs that the doors call. It is told to the expectations before it
is made (it may have happened) and after it returned (it has). A refusal by a guard and a fault that
reaches the caller are ordinary; anything else is a finding.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, assert_never

from holdfast.domain.errors import GuardRejected, HoldfastError, StageFailed, Unavailable
from holdfast.domain.ids import BaseId
from holdfast.domain.items import Directory, File, Input, Note, Sitemap, Url
from holdfast.testing.case import Step
from holdfast.testing.contents import content_of
from holdfast.testing.expectations import Known
from holdfast.testing.fetchers import PAGES, SITEMAP
from holdfast.testing.files import HOME
from holdfast.testing.lookers import look_at_chunks, look_at_list, look_for
from holdfast.testing.processors import KNOT, SCAN
from holdfast.workflow.add_items import add_items
from holdfast.workflow.bases import create_base, set_paused, update_base
from holdfast.workflow.delete_base import delete_base
from holdfast.workflow.delete_items import delete_items
from holdfast.workflow.recover import dismiss, recover
from holdfast.workflow.reindex_items import reindex_items
from holdfast.workflow.update_item import Change, update_item
from holdfast.workflow.workbench import Workbench

if TYPE_CHECKING:
    from holdfast.testing.world import World

ORDINARY = (GuardRejected, StageFailed, Unavailable)
MOST_ADDED = 4
PATHS = 4
KNOTS = 8
FOLDERS = (HOME, f"{HOME}/inner")
WAITS = (0.01, 0.5, 3.0, 12.0, 70.0)


class Client:
    """One user of one living process."""

    def __init__(self, world: World, kb: Workbench) -> None:
        self.world, self.kb, self.known = world, kb, world.expectations

    def take(self, step: Step) -> None:
        """Do one step; what a user may meet is no finding."""
        self.world.kernel.note("client", str(step))
        try:
            OPERATIONS[step.operation](self, step)
        except ORDINARY as error:
            self.world.kernel.note("client", f"{step.operation}: {type(error).__name__} {error}")
        except HoldfastError as error:
            self.world.kernel.found(f"{step.operation} raised {type(error).__name__}: {error}")

    # -- what is chosen

    def base(self, step: Step) -> BaseId:
        bases = self.known.standing_bases()
        return bases[step.second % len(bases)]

    def chosen(self, step: Step, count: int) -> list[Known]:
        living = self.known.living(self.base(step))
        places = {(step.first + n) % len(living): None for n in range(count)} if living else {}
        return [living[place] for place in places]

    def texts(self, step: Step, count: int) -> list[str]:
        number = self.known.next_number
        return [content_of(number(), step.second * 31 + step.first + n) for n in range(count)]

    # -- what is done

    def add(self, base: BaseId, inputs: Sequence[Input], contents: Sequence[str]) -> None:
        """Accepted means accepted; a call that fails may have been accepted all the same."""
        added = add_items(self.kb, base, inputs)
        refused = {one.index for one in added.failed}
        kept = [n for n in range(len(inputs)) if n not in refused]
        for item, n in zip(added.created, kept, strict=True):
            given = inputs[n]
            known = Known(item.id, base, [contents[n]], place_of(given), isinstance(given, Note))
            known.folder = isinstance(given, Directory | Sitemap)
            self.known.accepted(known)
            if known.path is not None:
                known.history |= self.world.written.get(known.path, set())

    def add_notes(self, step: Step) -> None:
        texts = self.texts(step, 1 + step.first % MOST_ADDED)
        self.add(self.base(step), [Note(text) for text in texts], texts)

    def add_upload(self, step: Step) -> None:
        texts = self.texts(step, 1 + step.first % 2)
        files = [File(content=text.encode(), name=f"up{n}.md") for n, text in enumerate(texts)]
        self.add(self.base(step), files, texts)

    def add_scan(self, step: Step) -> None:
        """What is no text until a processor has seen it, where the base has one."""
        base, (text,) = self.base(step), self.texts(step, 1)
        scanned = self.world.settings_by_base[base].file_processor_id is not None
        mark = KNOT if step.first % KNOTS == KNOTS - 1 else SCAN
        content = (mark if scanned and text.strip() else b"") + text.encode()
        self.add(base, [File(content=content, name="scan.pdf")], [text])

    def add_file(self, step: Step) -> None:
        path = path_of(step)
        if path not in self.world.landscape.user:
            self.world.save(path, self.texts(step, 1)[0])
        self.add(self.base(step), [File(path)], [self.world.landscape.user[path].decode()])

    def add_folder(self, step: Step) -> None:
        if not self.world.landscape.is_folder(HOME):
            self.change_file(step)
        self.add(self.base(step), [Directory(FOLDERS[step.first % len(FOLDERS)])], [""])

    def add_page(self, step: Step) -> None:
        url = page_of(step)
        if url not in self.world.web.pages:
            self.change_page(step)
        self.add(self.base(step), [Url(url)], [self.world.web.pages[url]])

    def add_sitemap(self, step: Step) -> None:
        self.add(self.base(step), [Sitemap(SITEMAP)], [""])

    def change_page(self, step: Step) -> None:
        self.world.put_page(page_of(step), self.texts(step, 1)[0])

    def remove_page(self, step: Step) -> None:
        self.world.web.pages.pop(page_of(step), None)

    def change_file(self, step: Step) -> None:
        self.world.save(path_of(step), self.texts(step, 1)[0])

    def remove_file(self, step: Step) -> None:
        self.world.landscape.remove(path_of(step))

    def update(self, step: Step) -> None:
        free = [known for known in self.chosen(step, 1) if not known.busy and known.path is None]
        for known in free:
            text = self.texts(step, 1)[0]
            known.busy = True
            known.attempt(text)
            try:
                update_item(self.kb, known.id, Change(text if known.note else text.encode()))
                known.promise(text)
            finally:
                known.busy = False

    def delete(self, step: Step) -> None:
        chosen = self.chosen(step, 1 + step.second % 3)
        for known in chosen:
            known.delete_asked = True
        if chosen:
            delete_items(self.kb, chosen[0].base, [known.id for known in chosen])
        for known in chosen:
            known.deleted = True

    def reindex(self, step: Step) -> None:
        chosen = self.chosen(step, 1 + step.second % 3)
        skip, force = bool(step.second & 4), not step.second & 24
        ids = [known.id for known in chosen]
        if chosen:
            reindex_items(self.kb, chosen[0].base, ids, skip_active=skip, force=force)

    def search(self, step: Step) -> None:
        look_for(self.world, self.kb, self.known.standing_bases(), step)

    def list(self, step: Step) -> None:
        look_at_list(self.world, self.kb, self.base(step))

    def chunks(self, step: Step) -> None:
        for known in [known for known in self.chosen(step, 1) if not known.folder]:
            look_at_chunks(self.world, self.kb, known)

    def pause(self, step: Step) -> None:
        set_paused(self.kb, self.base(step), paused=True)

    def resume(self, step: Step) -> None:
        set_paused(self.kb, self.base(step), paused=False)

    def ask(self, step: Step) -> None:
        manner = "ask" if step.first % 3 else "resume"
        update_base(self.kb, self.base(step), {"recovery": manner})

    def recover(self, step: Step) -> None:
        recover(self.kb, self.base(step))

    def dismiss(self, step: Step) -> None:
        self.known.dismissed = True
        dismiss(self.kb, self.base(step))

    def new_base(self, step: Step) -> None:
        base = create_base(self.kb, self.world.base_settings(step.first))
        self.world.know(base)

    def drop_base(self, step: Step) -> None:
        if len(self.known.standing_bases()) > 1:
            base = self.base(step)
            self.known.bases_deleted.add(base)
            delete_base(self.kb, base)

    def restart(self, step: Step) -> None:
        self.world.stop_asked = True

    def crash(self, step: Step) -> None:
        self.world.outage.crash(self.world.kernel.current.process)

    def power(self, step: Step) -> None:
        self.world.outage.power_cut()

    def wait(self, step: Step) -> None:
        self.world.kernel.sleep(WAITS[step.first % len(WAITS)], "client waits")


OPERATIONS: dict[str, Callable[[Client, Step], None]] = {
    name: member
    for name, member in vars(Client).items()
    if callable(member) and name not in {"__init__", "take", "base", "chosen", "texts", "add"}
}


def place_of(given: Input) -> str | None:
    """Where something stands that others can change."""
    match given:
        case File(path=path) | Directory(path=path):
            return path
        case Url(url=url) | Sitemap(url=url):
            return url
        case Note():
            return None
        case _:
            assert_never(given)


def page_of(step: Step) -> str:
    return PAGES[step.first % len(PAGES)]


def path_of(step: Step) -> str:
    place = step.first % PATHS
    return f"{FOLDERS[place % len(FOLDERS)]}/file{place}.md"
