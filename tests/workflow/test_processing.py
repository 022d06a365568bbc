"""Documents that a processor makes readable first (DESIGN section 4, check-file-processing)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.domain.errors import InvalidInput, Permanent, Transient
from holdfast.domain.item_states import Status
from holdfast.domain.items import Directory, File
from holdfast.domain.jobs import JobKind, Lane
from holdfast.domain.processing import Report, Word
from holdfast.jobs.waiting import Reason
from tests.workflow.clerk import DONE, LOST, RUNNING, Office
from tests.workflow.worlds import once, refusing

CHECK = JobKind.CHECK_FILE_PROCESSING_RESULT


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    world = Office(tmp_path)
    yield world
    world.close()


# --- the way through


def test_a_document_of_a_declared_type_is_found_by_what_the_processor_made_of_it(
    office: Office,
) -> None:
    item = office.scan("The lamp hums at night.")
    office.finish()

    assert office.status(item) is Status.COMPLETED
    assert office.found("lamp") == [item.id]
    assert office.ailments() == []


def test_other_types_are_read_by_us(office: Office) -> None:
    added = office.hf.add(office.base, [File(content=b"plain words", name="a.txt")])
    office.finish()

    assert office.found("plain") == [added.created[0].id]
    assert office.clerk.calls == []


def test_each_round_is_a_job_with_a_key_of_its_own(office: Office) -> None:
    office.clerk.reports = [RUNNING, DONE]
    item = office.scan()
    office.finish()

    keys = [row[0] for row in office.rows("SELECT key FROM jobs WHERE kind = ?", CHECK)]
    assert keys == [f"{office.base.id}:{item.id}:check:1:{n}" for n in range(3)]


def test_looks_are_five_seconds_apart(office: Office) -> None:
    office.clerk.reports = [RUNNING]
    office.scan()
    office.step(Lane.POLL)
    early = office.step(Lane.POLL)
    office.clock.advance(5.0)

    assert not early
    assert office.step(Lane.POLL)


def test_the_remote_id_is_stored_before_the_first_look(office: Office) -> None:
    office.scan()
    office.step(Lane.POLL)

    assert office.clerk.calls == ["submit"]
    assert office.rows("SELECT remote_id FROM remote_jobs") == [("task-1",)]


def test_a_result_is_fetched_once_and_kept_before_anything_else(office: Office) -> None:
    item = office.scan()
    office.step(Lane.POLL)
    office.look()

    assert office.clerk.asked("result") == ["result task-1"]
    roles = office.rows("SELECT role FROM file_refs WHERE source_id = ? ORDER BY role", item.id)
    assert roles == [("processed",), ("source",)]
    assert office.jobs(JobKind.INDEX_DOCUMENTS) == ["ready"]


def test_a_document_converted_in_part_is_completed_with_a_warning(office: Office) -> None:
    office.clerk.warning = "partial_result: page 3"
    item = office.scan()
    office.finish()

    assert office.item(item).warning == "partial_result: page 3"


def test_the_size_of_an_item_is_that_of_its_document(office: Office) -> None:
    item = office.scan("x" * 100)
    office.finish()

    assert office.item(item).size == 100


def test_a_document_with_nothing_in_it_is_given_to_nobody(office: Office) -> None:
    item = office.scan("")
    office.finish()

    assert office.item(item).warning == "no_text"
    assert office.clerk.calls == []


@pytest.mark.parametrize(("manner", "code"), [("fail", "no_text"), ("complete", None)])
def test_a_document_without_text_fails_unless_the_base_accepts_that(
    office: Office, manner: str, code: str | None
) -> None:
    office.hf.update_base(office.base, empty_content=manner)
    office.clerk.reads = lambda _content: b" "
    item = office.scan()
    office.finish()

    assert office.item(item).error_code == code


def test_scans_in_a_folder_are_taken_for_the_processor(office: Office) -> None:
    root = office.tree({"a.pdf": b"smuh pmal", "b.png": b"a picture nobody declared"})
    office.hf.add(office.base, [Directory(str(root))])
    office.finish()

    assert len(office.clerk.given) == 1
    assert len(office.found("lamp")) == 1


# --- nothing is paid for twice


def test_an_equal_document_is_not_converted_again(office: Office) -> None:
    first = office.scan("same words")
    office.finish()
    second = office.scan("same words")
    office.finish()

    assert office.status(second) is Status.COMPLETED
    assert len(office.clerk.given) == 1
    office.hf.delete(first)
    office.finish()
    office.hf.reindex(second)
    office.finish()
    assert office.status(second) is Status.COMPLETED
    assert len(office.clerk.given) == 1


def test_a_file_of_the_user_s_is_converted_again_only_with_other_content(office: Office) -> None:
    path = office.folder / "a.pdf"
    path.write_bytes(b"smuh pmal")
    item = office.hf.add(office.base, [File(str(path))]).created[0]
    office.finish()
    office.hf.reindex(item)
    office.finish()
    equal = len(office.clerk.given)
    path.write_bytes(b"dleif")
    office.clerk.results = 1
    office.hf.reindex(item)
    office.finish()

    assert (equal, len(office.clerk.given)) == (1, 2)
    assert office.found("field") == [item.id]


def test_kept_bytes_that_are_gone_are_made_again(office: Office) -> None:
    item = office.scan()
    office.finish()
    (kept,) = office.rows("SELECT entry_id FROM file_refs WHERE role = 'processed'")
    for path in (office.folder / "kb" / "files").rglob(f"*{kept[0]}"):
        path.unlink()
    office.clerk.results = 1
    office.hf.reindex(item)
    office.finish()
    office.hf.reindex(item)
    office.finish()

    assert office.status(item) is Status.COMPLETED
    assert len(office.clerk.given) == 2


# --- what goes wrong


def test_a_refusal_fails_the_item_with_the_processor_s_words(office: Office) -> None:
    office.clerk.reports = [Report(Word.FAILED, "page 3 is upside down")]
    item = office.scan()
    office.finish()

    failed = office.item(item)
    assert failed.error_code == "processing_failed"
    assert "page 3 is upside down" in str(failed.error)


def test_processing_that_never_ends_is_cancelled_and_names_the_setting(office: Office) -> None:
    office.hf.update_base(office.base, file_processing_max_wait=60)
    office.clerk.reports = [RUNNING]
    item = office.scan()
    office.finish(rounds=500)

    failed = office.item(item)
    assert failed.error_code == "processing_timeout"
    assert "file_processing_max_wait is 60 s" in str(failed.error)
    assert office.clerk.asked("cancel") == ["cancel task-1"]
    assert office.rows("SELECT * FROM remote_jobs") == []


def test_progress_gives_it_more_time_but_not_for_ever(office: Office) -> None:
    office.hf.update_base(office.base, file_processing_max_wait=20)
    shares = (Report(Word.RUNNING, share=n / 1000) for n in range(1000))
    office.clerk.reports = list(shares)
    item = office.scan()
    office.finish(rounds=500)

    failed = office.item(item)
    assert failed.error_code == "processing_timeout"
    assert "12 times file_processing_max_wait" in str(failed.error)
    assert 12 * 20 // 5 <= len(office.clerk.asked("status")) <= 12 * 20 // 5 + 2


def test_a_clock_that_jumps_ahead_gives_nothing_up(office: Office) -> None:
    office.clerk.reports = [RUNNING, RUNNING, DONE]
    item = office.scan()
    office.step(Lane.POLL)
    office.look()
    office.clock.advance(7_200.0)
    office.finish()

    assert office.status(item) is Status.COMPLETED


def test_a_clock_that_is_set_back_ends_it_all_the_same(office: Office) -> None:
    office.hf.update_base(office.base, file_processing_max_wait=60)
    office.clerk.reports = [RUNNING]
    item = office.scan()
    office.step(Lane.POLL)
    for _ in range(20):
        office.look()
        office.clock.now -= 5.0
        office.rows("UPDATE jobs SET run_at = 0 WHERE state = 'later'")

    assert office.item(item).error_code == "processing_timeout"


def test_what_was_lost_is_submitted_again_twice(office: Office) -> None:
    office.clerk.reports = [LOST, LOST, DONE]
    item = office.scan()
    office.finish()

    assert office.status(item) is Status.COMPLETED
    assert len(office.clerk.given) == 3


def test_what_is_lost_three_times_fails(office: Office) -> None:
    office.clerk.reports = [LOST]
    item = office.scan()
    office.finish()

    assert office.item(item).error_code == "processing_failed"
    assert len(office.clerk.given) == 3


def test_a_result_that_is_gone_is_made_again(office: Office) -> None:
    office.clerk.results = 0
    item = office.scan()
    office.finish()

    assert office.item(item).error_code == "processing_failed"
    tried = [f"result task-{number}" for number in (1, 2, 3)]
    assert office.clerk.asked("result") == tried


def test_an_outage_counts_no_attempt_and_ends_by_itself(office: Office) -> None:
    down = iter([True] * 20)

    def refuse(call: str) -> None:
        if next(down, False):
            raise Transient("nobody is there", code="processing_failed")

    office.clerk.on_call = refuse
    item = office.scan()
    office.finish(rounds=100)

    assert office.status(item) is Status.COMPLETED
    assert office.rows("SELECT max(attempt) FROM jobs") == [(0,)]


def test_a_document_the_processor_will_not_take_fails_at_once(office: Office) -> None:
    def refuse(_call: str) -> None:
        raise Permanent("413: too many pages", code="processing_failed")

    office.clerk.on_call = refuse
    item = office.scan()
    office.finish()

    assert "413: too many pages" in str(office.item(item).error)
    assert office.rows("SELECT * FROM remote_jobs") == []


# --- restarts, deletes, newer work


def test_after_a_crash_the_stored_id_is_asked_for(office: Office) -> None:
    office.clerk.reports = [RUNNING, DONE]
    item = office.scan()
    office.step(Lane.POLL)
    office.crash()
    office.finish()

    assert office.status(item) is Status.COMPLETED
    assert len(office.clerk.given) == 1


class Killed(BaseException):
    """The process ends here, and nothing of it runs on."""


def test_a_crash_after_submit_costs_a_second_conversion_and_nothing_else(office: Office) -> None:
    def die(call: str) -> None:
        office.clerk.on_call = lambda _call: None
        office.clerk.take(b"it has arrived")
        raise Killed

    item = office.scan()
    office.clerk.on_call = die
    with pytest.raises(Killed):
        office.step(Lane.POLL)
    office.crash()
    office.finish()

    assert office.status(item) is Status.COMPLETED
    assert len(office.clerk.given) == 2
    assert office.ailments() == []


def test_a_delete_cancels_what_the_processor_is_at(office: Office) -> None:
    office.clerk.reports = [RUNNING]
    item = office.scan()
    office.step(Lane.POLL)
    office.hf.delete(item)
    office.finish()

    assert office.is_gone(item)
    assert office.clerk.asked("cancel") == ["cancel task-1"]
    assert office.rows("SELECT * FROM remote_jobs") == []


def test_a_delete_during_submit_cancels_it_and_keeps_nothing(office: Office) -> None:
    item = office.scan()
    office.clerk.on_call = once(lambda: office.hf.delete(item))
    office.finish()

    assert office.clerk.asked("cancel") == ["cancel task-1"]
    assert office.rows("SELECT * FROM remote_jobs") == []
    assert office.ailments() == []


def test_newer_content_is_submitted_in_place_of_the_older(office: Office) -> None:
    office.clerk.reports = [RUNNING, DONE]
    item = office.scan("old words")
    office.step(Lane.POLL)
    office.look()
    office.hf.update(item, content=b"new words"[::-1])
    office.finish()

    assert office.clerk.asked("cancel") == ["cancel task-1"]
    assert [chunk.content for chunk in office.hf.chunks(item).items] == ["new words"]


def test_what_was_dismissed_is_cancelled_by_the_sweep(office: Office) -> None:
    office.hf.update_base(office.base, recovery="ask")
    office.clerk.reports = [RUNNING]
    office.scan()
    office.step(Lane.POLL)
    office.reopen()
    office.hf.dismiss(office.base)
    office.sweep()

    assert office.clerk.asked("cancel") == ["cancel task-1"]
    assert office.rows("SELECT * FROM remote_jobs") == []


def test_a_deleted_base_cancels_its_documents(office: Office) -> None:
    office.clerk.reports = [RUNNING]
    office.scan()
    office.step(Lane.POLL)
    office.hf.delete_base(office.base)
    office.finish()

    assert office.clerk.asked("cancel") == ["cancel task-1"]


def test_a_base_deleted_during_a_look_leaves_no_job_behind(office: Office) -> None:
    office.scan()
    office.step(Lane.POLL)
    office.clerk.on_call = once(lambda: office.hf.delete_base(office.base))
    office.finish()

    assert office.rows("SELECT id FROM bases WHERE name = 'scans'") == []
    assert office.rows("SELECT key FROM jobs WHERE state IN ('ready', 'later', 'running')") == []


def test_a_round_that_cannot_be_queued_fails_the_item(office: Office) -> None:
    item = office.scan()
    with refusing(lambda job: job.kind is CHECK):
        office.step(Lane.POLL)
    office.sweep()

    assert office.item(item).error_code == "schedule_failed"
    assert office.clerk.asked("cancel") == ["cancel task-1"]


# --- places


def test_a_processor_has_two_documents_at_once(office: Office) -> None:
    office.clerk.reports = [RUNNING]
    for number in range(4):
        office.scan(f"text {number}")
    office.drain()

    assert len(office.clerk.given) == 2
    assert office.rows("SELECT count(*) FROM jobs WHERE reason = 'processor_busy'") == [(2,)]


def test_a_place_that_becomes_free_is_taken_at_once(office: Office) -> None:
    office.clerk.reports, office.clerk.results = [DONE], 4
    items = [office.scan(f"text {number}") for number in range(4)]
    office.drain()
    office.clock.advance(5.0)
    office.drain()

    assert len(office.clerk.given) == 4
    office.finish()
    assert {office.status(item) for item in items} == {Status.COMPLETED}


def test_a_task_that_waits_for_a_person_holds_no_place(office: Office) -> None:
    office.clerk.reports = [RUNNING]
    office.scan("one"), office.scan("two")
    office.drain()
    office.hf.update_base(office.base, recovery="ask")
    office.reopen()
    office.scan("three")
    office.drain()

    assert len(office.clerk.given) == 3


# --- what one is told


def test_explain_says_what_the_processor_reports(office: Office) -> None:
    office.clerk.reports = [Report(Word.PENDING, ahead=3)]
    item = office.scan()
    office.step(Lane.POLL)
    office.look()

    why = office.hf.explain(item)
    assert why.reason is Reason.PROCESSING
    assert "clerk has it: pending, 3 queued ahead" in why.sentence


def test_explain_says_that_the_processor_is_busy(office: Office) -> None:
    office.clerk.reports = [RUNNING]
    items = [office.scan(f"text {number}") for number in range(3)]
    office.drain()

    assert office.hf.explain(items[2]).reason is Reason.PROCESSOR_BUSY


def test_an_unknown_processor_is_refused_when_the_base_is_made(office: Office) -> None:
    with pytest.raises(InvalidInput, match=r"file_processor_id is 'other'.*: clerk"):
        office.hf.create_base("x", file_processor_id="other")
    with pytest.raises(InvalidInput, match="file_processor_id"):
        office.hf.update_base(office.base, file_processor_id="other")


def test_a_processor_that_is_gone_from_the_settings_fails_its_documents(office: Office) -> None:
    office.scan("one")
    office.settings = {}
    office.reopen()
    item = office.scan("two")
    office.finish()

    assert "there is no processor 'clerk' here" in str(office.item(item).error)
