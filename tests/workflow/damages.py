"""Which damages does `holdfast doctor` find, and which does it repair?

Each is planted into a copy of the same sound data folder while nobody has it open. Found means: the
rule that it breaks is among the findings. Repaired means: nothing is found after `--repair`, and
the work that the repair put into the queue ends well. `python -m bench doctor` prints them all.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from holdfast import Directory, File, Holdfast, Note
from holdfast.domain.chunks import digest_of

Plant = Callable[["Broken"], object]
WORDS = ("zebra", "quagga", "okapi", "tapir", "gnu", "kudu")
OLD_BASE = "01000000-0000-7000-8000-000000000000"
LONG_AGO = 1_000_000_000
SOURCE = "files/**/*"


@dataclass(frozen=True, slots=True)
class Damage:
    """What is planted, the rule it breaks, and whether anything is left to repair it from."""

    what: str
    rule: str
    plant: Plant
    repairable: bool = True


class Broken:
    """A data folder with nobody in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with Holdfast.open(folder, read_only=True) as hf:
            self.base, self.other = hf.base("b").id, hf.base("other").id
            self.items = {item.name: item.id for item in hf.items("b", parent="*").items}
            self.elsewhere = hf.items("other").items[0].id

    @property
    def index(self) -> Path:
        return self.folder / "index" / f"{self.base}.db"

    def main(self, *statements: str) -> None:
        self.at(self.folder / "holdfast.db", *statements)

    def inside(self, *statements: str) -> None:
        self.at(self.index, *statements)

    def at(self, file: Path, *statements: str) -> None:
        """Statements that no writer of ours would make: nothing is enforced."""
        with opened(file) as connection:
            for statement in statements:
                connection.execute(statement, {**self.items_by_role(), "base": self.base})

    def items_by_role(self) -> dict[str, str]:
        return {
            "note": self.items["note"],
            "box": self.items["docs"],
            "child": self.items["0.md"],
            "file": self.items["kept.txt"],
            "other": self.other,
            "elsewhere": self.elsewhere,
        }

    def stored(self) -> Path:
        return next(path for path in self.folder.glob(SOURCE) if path.is_file())

    def job(self, key: str, item: str, *, state: str = "ready", **given: Any) -> None:
        values = {"base": self.base, "attempt": 0, "claim": None, "slot": None, **given}
        with opened(self.folder / "holdfast.db") as connection:
            connection.execute(
                "INSERT INTO jobs (kind, lane, base_id, item_id, key, state, ordinal, large,"
                " attempt, claim, slot, owner, generation, workload, input, created_at, updated_at)"
                " VALUES ('index-documents', 'index', :base, :item, :key, :state, 0, 0, :attempt,"
                " :claim, :slot, 'gone', 1, 1, '{}', 0, 0)",
                {**values, "item": item, "key": key, "state": state},
            )

    def stale_index(self) -> None:
        """An index that did not see a write, as after a page that was lost."""
        named = "name = 'item_events_of_item'"
        with opened(self.folder / "holdfast.db") as connection:
            row = next(connection.execute(f"SELECT * FROM sqlite_master WHERE {named}"))
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute(f"DELETE FROM sqlite_master WHERE {named}")
        self.main(
            "INSERT INTO item_events (at, kind, base_id, item_id, detail)"
            " VALUES (0, 'repaired', :base, :note, '{}')"
        )
        with opened(self.folder / "holdfast.db") as connection:
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", row)


@contextmanager
def opened(file: Path) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(str(file))
    connection.execute("PRAGMA ignore_check_constraints = ON")
    try:
        yield connection
    finally:
        connection.close()


def overwritten(file: Path, start: int, size: int) -> None:
    content = bytearray(file.read_bytes())
    content[start : start + size] = b"\xa5" * size
    file.write_bytes(content)


def orphan(broken: Broken) -> None:
    path = broken.folder / "files" / "ab" / f"ab-{OLD_BASE}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"left over")
    os.utime(path, (LONG_AGO, LONG_AGO))


def crowd(broken: Broken) -> None:
    for number, item in enumerate(broken.items.values(), start=1):
        broken.job(f"c{number}", item, state="running", claim=number, slot=number)


def twice(broken: Broken) -> None:
    for claim in (1, 2):
        broken.job(f"r{claim}", broken.items["note"], state="running", claim=claim, slot=claim)


EMPTY = digest_of([])
MAIN = (
    Damage(
        "an active item without a job",
        "i1_active_items_have_work",
        lambda b: b.main(
            "UPDATE items SET status = 'processing', generation = generation + 1, progress = 0"
            " WHERE id = :note"
        ),
    ),
    Damage(
        "a living item inside a deleting folder",
        "i2_nothing_visible_below_deleting",
        lambda b: b.main(
            "UPDATE items SET status = 'deleting', generation = generation + 1 WHERE id = :box"
        ),
    ),
    Damage(
        "a folder with another status than follows from what is inside",
        "i4_containers_are_rolled_up",
        lambda b: b.main("UPDATE items SET status = 'processing' WHERE id = :box"),
    ),
    Damage(
        "a file reference of an item that is gone",
        "i5_file_refs_point_to_items",
        lambda b: b.main(
            "INSERT INTO file_refs SELECT id, 'item', 'nobody', 'source' FROM file_entries"
        ),
    ),
    Damage(
        "an item that lost the reference to its bytes",
        "i5_indexed_files_have_their_ref",
        lambda b: b.main("DELETE FROM file_refs"),
    ),
    Damage(
        "an item whose folder is gone",
        "i7_items_have_base_and_parent",
        lambda b: b.main("UPDATE items SET parent_id = 'nobody' WHERE id = :child"),
    ),
    Damage(
        "an item whose base is gone",
        "i7_items_have_base_and_parent",
        lambda b: b.main("UPDATE items SET base_id = 'nobody' WHERE id = :note"),
    ),
    Damage(
        "two runs of one item",
        "i8_one_running_job_per_item",
        twice,
    ),
    Damage(
        "a published build with a number that was never given",
        "i9_published_by_a_claim_of_ours",
        lambda b: b.main("UPDATE items SET published_build = 9000000000000 WHERE id = :note"),
    ),
    Damage(
        "a published build of no generation",
        "i9_published_by_a_claim_of_ours",
        lambda b: b.main("UPDATE items SET published_generation = NULL WHERE id = :note"),
    ),
    Damage(
        "a completed item with nothing that answers",
        "i10_completed_leaves_are_published",
        lambda b: b.main(
            "UPDATE items SET published_build = NULL, published_generation = NULL WHERE id = :note"
        ),
    ),
    Damage(
        "a published digest that is another",
        "i10_published_builds_are_whole",
        lambda b: b.main("UPDATE items SET digest = 'another' WHERE id = :note"),
    ),
    Damage(
        "a published count of chunks that is another",
        "i10_published_builds_are_whole",
        lambda b: b.main("UPDATE items SET chunk_count = 99 WHERE id = :note"),
    ),
    Damage(
        "a job tried more often than it may be",
        "i12_attempts_within_limits",
        lambda b: b.job("tried", b.items["note"], attempt=9),
    ),
    Damage(
        "a failed item that does not say why",
        "i12_failures_say_why",
        lambda b: b.main(
            "UPDATE items SET status = 'failed', error_code = 'no_text' WHERE id = :note"
        ),
    ),
    Damage("more runs than the lane may have", "i13_running_jobs_within_caps", crowd),
    Damage(
        "an item inside a folder of another base",
        "i15_children_are_of_their_parents_base",
        lambda b: b.main("UPDATE items SET parent_id = :box WHERE id = :elsewhere"),
    ),
    Damage(
        "a job of another base than its item",
        "i15_children_are_of_their_parents_base",
        lambda b: b.job("astray", b.items["note"], base=b.other),
    ),
    Damage(
        "a delete that nobody carries out",
        "l2_deletes_have_work",
        lambda b: b.main(
            "UPDATE items SET status = 'deleting', generation = generation + 1 WHERE id = :note"
        ),
    ),
    Damage(
        "a base being deleted by nobody",
        "l2_deleted_bases_have_work",
        lambda b: b.main("UPDATE bases SET status = 'deleting' WHERE id = :other"),
    ),
    Damage(
        "a trigger that is missing",
        "main_store_is_whole",
        lambda b: b.main("DROP TRIGGER items_deleting_is_final"),
    ),
    Damage(
        "a unique index that is missing",
        "main_store_is_whole",
        lambda b: b.main("DROP INDEX jobs_live_key"),
    ),
    Damage(
        "an index that disagrees with its table", "main_store_is_whole", lambda b: b.stale_index()
    ),
    Damage(
        "a main store whose pages were overwritten",
        "main_store_is_whole",
        lambda b: overwritten(b.folder / "holdfast.db", 4096, 40_960),
        repairable=False,
    ),
)
FILES = (
    Damage("an old file that is not listed", "i14_files_are_referenced", orphan),
    Damage(
        "stored bytes that are gone",
        "i14_entries_have_their_bytes",
        lambda b: b.stored().unlink(),
        repairable=False,
    ),
    Damage(
        "stored bytes that are others",
        "i14_entries_have_their_bytes",
        lambda b: b.stored().write_bytes(b"others"),
        repairable=False,
    ),
)
INDEX = (
    Damage("no index", "i10_published_builds_are_whole", lambda b: b.index.unlink()),
    Damage(
        "an index that was never finished",
        "i10_published_builds_are_whole",
        lambda b: b.index.write_bytes(b""),
    ),
    Damage(
        "an index that is no database",
        "i10_published_builds_are_whole",
        lambda b: b.index.write_bytes(b"no database at all" * 1_000),
    ),
    Damage(
        "the index of another base in its place",
        "i10_published_builds_are_whole",
        lambda b: shutil.copy(b.index.with_name(f"{b.other}.db"), b.index),
    ),
    Damage(
        "an index whose pages were overwritten",
        "i11_index_agrees_with_itself",
        lambda b: overwritten(b.index, 20_480, 16_384),
    ),
    Damage(
        "an index of a base that is not there",
        "i14_indexes_have_their_base",
        lambda b: shutil.copy(b.index, b.index.with_name(f"{OLD_BASE}.db")),
    ),
    Damage(
        "a build that nobody published",
        "i3_one_build_per_item",
        lambda b: b.inside(
            "INSERT INTO build (item, claim, state, rev, n, digest)"
            f" VALUES (:note, 7, 1, 1, 0, '{EMPTY.digest}')"
        ),
    ),
    Damage(
        "a published build that is not sealed",
        "i10_published_builds_are_whole",
        lambda b: b.inside("UPDATE build SET state = 0, n = NULL, digest = NULL"),
    ),
    Damage(
        "a seal with another digest",
        "i11_index_agrees_with_itself",
        lambda b: b.inside("UPDATE build SET digest = 'another' WHERE id = 1"),
    ),
    Damage(
        "a chunk that is missing",
        "i11_index_agrees_with_itself",
        lambda b: b.inside("DELETE FROM chunk WHERE id = 2"),
    ),
    Damage(
        "a chunk with another text",
        "i11_index_agrees_with_itself",
        lambda b: b.inside("UPDATE chunk SET text = CAST('another' AS BLOB) WHERE id = 2"),
    ),
    Damage(
        "a chunk of no build",
        "i11_index_agrees_with_itself",
        lambda b: b.inside(
            "INSERT INTO chunk SELECT 900, 900, 0, text_hash, 0, 1, NULL, NULL, text FROM chunk"
            " WHERE id = 1"
        ),
    ),
    Damage(
        "a chunk that full text lacks",
        "i11_index_agrees_with_itself",
        lambda b: b.inside("DELETE FROM fts WHERE rowid = 2"),
    ),
    Damage(
        "a chunk with other words in full text",
        "i11_index_agrees_with_itself",
        lambda b: b.inside(
            "DELETE FROM fts WHERE rowid = 2", "INSERT INTO fts (rowid, line) VALUES (2, 'other')"
        ),
    ),
    Damage(
        "words of a chunk that is not there",
        "i11_index_agrees_with_itself",
        lambda b: b.inside("INSERT INTO fts (rowid, line) VALUES (900, 'nowhere')"),
    ),
    Damage(
        "a segment of full text that is empty",
        "i11_index_agrees_with_itself",
        lambda b: b.inside("UPDATE fts_data SET block = zeroblob(8) WHERE id > 100"),
    ),
    Damage(
        "a text without its vector",
        "i11_index_agrees_with_itself",
        lambda b: b.inside("DELETE FROM vec WHERE id = 2"),
    ),
    Damage(
        "a vector that nobody made",
        "i11_index_agrees_with_itself",
        lambda b: b.inside("UPDATE vec SET f16 = zeroblob(length(f16)) WHERE id = 2"),
    ),
    Damage(
        "a vector of another width",
        "i11_index_agrees_with_itself",
        lambda b: b.inside("UPDATE vec SET f16 = zeroblob(6) WHERE id = 2"),
    ),
    Damage(
        "codes of other vectors",
        "i11_index_agrees_with_itself",
        lambda b: b.inside("UPDATE code SET codes = zeroblob(length(codes)) WHERE id = 1"),
    ),
    Damage(
        "a page without its codes",
        "i11_index_agrees_with_itself",
        lambda b: b.inside("DELETE FROM code WHERE id = 1"),
    ),
    Damage(
        "a lone vector that nobody would collect",
        "i11_index_agrees_with_itself",
        lambda b: b.inside(
            "INSERT INTO vec (text_hash, space, claim, f16)"
            " SELECT zeroblob(16), space, claim, f16 FROM vec WHERE id = 1"
        ),
    ),
    Damage(
        "a vector in use that would be collected",
        "i11_index_agrees_with_itself",
        lambda b: b.inside("INSERT INTO lone SELECT text_hash, space, claim FROM vec WHERE id = 1"),
    ),
)
DAMAGES = MAIN + FILES + INDEX


def sound_folder(place: Path) -> Path:
    """A base of a folder, a note and given bytes, another base, everything indexed."""
    docs, data = place / "docs", place / "kb"
    docs.mkdir(parents=True)
    for number, word in enumerate(WORDS):
        (docs / f"{number}.md").write_text(f"# A {word}\n\nThe {word} stands in the {word} house.")
    with Holdfast.open(data, run=False) as hf:
        base = hf.create_base("b", embedding_model="hash/16")
        other = hf.create_base("other", embedding_model="hash/16")
        kept = File(content=b"bytes of the user", name="kept.txt")
        hf.add(base, [Directory(str(docs)), Note("A note of mine.", title="note"), kept])
        hf.add(other, Note("elsewhere"))
        hf.drain()
        assert hf.doctor() == []
    with Holdfast.open(data, run=False) as hf:  # another owner: what it leaves was left for good
        assert hf.doctor() == []
    return data


def planted(sound: Path, place: Path, damage: Damage) -> Path:
    folder = Path(shutil.copytree(sound, place / "kb"))
    damage.plant(Broken(folder))
    return folder


@dataclass(frozen=True, slots=True)
class Visit:
    """What two calls of the doctor said, as a shell sees them."""

    found: bool
    repaired: bool
    codes: tuple[int, int]
    left: tuple[str, ...]

    def is_right_for(self, damage: Damage) -> bool:
        codes = (1, 0) if damage.repairable else (1, 1)
        return self.found and self.repaired == damage.repairable and self.codes == codes


def visit(folder: Path, damage: Damage, answer: Callable[[list[str]], tuple[int, Any]]) -> Visit:
    """`doctor`, `doctor --repair`, and then the work that was put into the queue."""
    where = ["--data", str(folder), "--json"]
    first, said = answer(["doctor", *where])
    second, after = answer(["doctor", "--repair", *where])
    left = [f"{one['invariant']}: {one['sentence']}" for one in after.get("findings", [])]
    if not second:
        left += afterwards(folder)
    found = damage.rule in {one["invariant"] for one in said.get("findings", [])}
    return Visit(found, not second and not left, (first, second), tuple(left))


def afterwards(folder: Path) -> list[str]:
    """What still disagrees when everything has been done that the repair asked for."""
    with Holdfast.open(folder, run=False) as hf:
        hf.drain(30)
        wrong = [f"{one.invariant}: {one.sentence}" for one in hf.doctor()]
        unsettled = hf.unsettled([item.id for item in hf.items("b", parent="*").items])
        return wrong + [f"{item} has not settled" for item in unsettled]
