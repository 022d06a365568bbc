"""The four verbs against docling-serve and MinerU (INTERFACES B.7), over real sockets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import Holdfast
from holdfast.config import ProcessorSettings
from holdfast.domain.errors import Permanent, Transient
from holdfast.domain.item_states import COMPLETED
from holdfast.domain.items import File
from holdfast.domain.processing import Converted, Report, Word
from holdfast.ports import Processor, Source
from holdfast.stages.processing.registry import Processors
from tests.stages.processing.offices import Docling, Mineru, Office

SCAN = Source("scan ä.pdf", "0" * 64, 9, b"%PDF-1.7 ")


@pytest.fixture
def docling() -> Iterator[Docling]:
    office = Docling()
    yield office
    office.close()


@pytest.fixture
def mineru() -> Iterator[Mineru]:
    office = Mineru()
    yield office
    office.close()


def processor(office: Office, **settings: object) -> Processor:
    kind = "docling" if isinstance(office, Docling) else "mineru"
    given = {"kind": kind, "base_url": office.url + "/", **settings}
    return Processors({"scans": ProcessorSettings.model_validate(given)}).resolve("scans")


def words(office: Office) -> list[Report]:
    """What is said of one document until it ends."""
    asked = processor(office)
    task = asked.submit(SCAN)
    return [asked.status(task) for _ in office.words]


# --- the way through


def test_docling_converts_a_document(docling: Docling) -> None:
    asked = processor(docling)
    task = asked.submit(SCAN)
    reports = [asked.status(task) for _ in range(3)]

    assert reports == [Report(Word.PENDING, ahead=1), Report(Word.RUNNING), Report(Word.DONE)]
    assert asked.result(task) == Converted("# scan ä.pdf\n\nThe text.".encode())


def test_docling_gives_a_result_once(docling: Docling) -> None:
    asked = processor(docling)
    task = asked.submit(SCAN)
    asked.result(task)

    assert asked.result(task) is None
    assert asked.status(task).word is Word.LOST


def test_docling_is_asked_for_the_text_in_its_answer_and_polled_long(docling: Docling) -> None:
    asked = processor(docling, options={"do_ocr": "true", "target_type": "zip"})
    task = asked.submit(SCAN)
    (paper,) = docling.papers.values()
    asked.status(task)

    assert (paper.content, paper.name) == (SCAN.content, SCAN.name)
    assert paper.fields["target_type"] == "inbody"
    assert paper.fields["to_formats"] == "md"
    assert paper.fields["do_ocr"] == "true"
    assert docling.asked[-1].endswith("?wait=3")


def test_mineru_converts_a_document(mineru: Mineru) -> None:
    asked = processor(mineru)
    task = asked.submit(SCAN)
    reports = [asked.status(task) for _ in range(3)]

    assert reports == [Report(Word.PENDING, ahead=3), Report(Word.RUNNING), Report(Word.DONE)]
    assert (
        asked.result(task) == asked.result(task) == Converted("# scan ä.pdf\n\nThe text.".encode())
    )


def test_a_large_document_is_sent_from_its_place(docling: Docling, tmp_path: Path) -> None:
    place = tmp_path / "large"
    place.write_bytes(b"x" * 3_000_000)
    processor(docling).submit(Source("a.pdf", "0" * 64, 3_000_000, place=str(place)))

    assert len(docling.papers["task/1 ä"].content) == 3_000_000


# --- every word


def test_a_failure_comes_with_the_service_s_words(docling: Docling, mineru: Mineru) -> None:
    docling.words, mineru.words = ("failure",), ("failed",)

    failed = Report(Word.FAILED, "page 3 is upside down")
    assert words(docling) == words(mineru) == [failed]


def test_a_part_is_a_result_with_a_warning(docling: Docling) -> None:
    docling.words, docling.partial = ("partial_success",), True
    asked = processor(docling)
    task = asked.submit(SCAN)

    assert asked.status(task).word is Word.DONE
    converted = asked.result(task)
    assert converted is not None
    assert converted.warning == "partial_result: page 3 is upside down"


def test_what_is_skipped_has_failed(docling: Docling) -> None:
    docling.words = ("skipped",)

    assert words(docling)[0].word is Word.FAILED


def test_an_unknown_id_is_lost(docling: Docling, mineru: Mineru) -> None:
    assert processor(docling).status("other").word is Word.LOST
    assert processor(mineru).status("other").word is Word.LOST
    assert processor(mineru).result("other") is None


def test_a_word_that_is_in_no_contract_is_asked_again(docling: Docling) -> None:
    docling.words = ("dreaming",)

    with pytest.raises(Transient, match="'dreaming'"):
        words(docling)


def test_a_result_that_is_not_ready_is_asked_again(mineru: Mineru) -> None:
    asked = processor(mineru)

    with pytest.raises(Transient, match="still to come"):
        asked.result(asked.submit(SCAN))


def test_a_result_that_is_refused_says_why(mineru: Mineru) -> None:
    mineru.words = ("failed",)
    asked = processor(mineru)

    with pytest.raises(Permanent, match="409: page 3 is upside down"):
        asked.result(asked.submit(SCAN))


# --- who does not answer as agreed


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503])
def test_what_may_pass_is_transient(docling: Docling, status: int) -> None:
    docling.troubles = [(status, '{"detail": "come later"}', {"Retry-After": "7"})]

    with pytest.raises(Transient, match=f"{status}: come later") as raised:
        processor(docling).submit(SCAN)
    assert raised.value.retry_after == 7.0


@pytest.mark.parametrize("status", [400, 413, 415, 422, 302])
def test_what_will_never_be_taken_is_permanent(docling: Docling, status: int) -> None:
    docling.troubles = [(status, '{"detail": [{"msg": "too many pages"}]}', {})]

    with pytest.raises(Permanent, match=f"{status}: .*too many pages"):
        processor(docling).submit(SCAN)


@pytest.mark.parametrize("body", ["", "<html>", "[]", "{}", '"text"', "null", "7"])
def test_an_answer_of_another_shape_is_no_answer(docling: Docling, body: str) -> None:
    docling.troubles = [(200, body, {})]

    with pytest.raises((Transient, Permanent), match=r"no JSON|without a task_id"):
        processor(docling).submit(SCAN)


def test_a_result_without_text_is_refused(docling: Docling) -> None:
    asked = processor(docling)
    task = asked.submit(SCAN)
    docling.troubles = [(200, '{"document": {"md_content": null}, "status": "failure"}', {})]

    with pytest.raises(Permanent, match="gave no text"):
        asked.result(task)


def test_nobody_there_is_transient() -> None:
    office = Docling()
    office.close()

    with pytest.raises(Transient, match="does not answer"):
        processor(office).status("task")


def test_an_address_that_is_none_is_permanent() -> None:
    settings = ProcessorSettings(kind="docling", base_url="http://[::x")

    with pytest.raises(Permanent, match="base_url"):
        Processors({"scans": settings}).resolve("scans").status("task")


def test_a_service_without_an_address_says_so() -> None:
    with pytest.raises(Permanent, match="no base_url"):
        Processors({"scans": ProcessorSettings(kind="mineru")}).resolve("scans")


# --- keys


def test_the_key_is_sent_and_never_shown(docling: Docling, monkeypatch: pytest.MonkeyPatch) -> None:
    docling.key = "s3cret"
    monkeypatch.setenv("OUR_KEY", "s3cret")
    processor(docling, api_key="s3cret").submit(SCAN)
    processor(docling, api_key_env="OUR_KEY").submit(SCAN)

    assert len(docling.papers) == 2
    assert "s3cret" not in repr(
        ProcessorSettings.model_validate({"kind": "docling", "api_key": "s3cret"})
    )


def test_a_refused_key_names_the_setting(docling: Docling) -> None:
    docling.key = "s3cret"

    with pytest.raises(Permanent, match="Api key is required") as raised:
        processor(docling, api_key="wrong").submit(SCAN)
    assert "[processors.scans]" in raised.value.advice
    assert "wrong" not in str(raised.value)


# --- all of it together


@pytest.mark.parametrize("make", [Docling, Mineru])
def test_a_scan_is_added_converted_and_found(make: type[Office], tmp_path: Path) -> None:
    office = make()
    kind = make.__name__.lower()
    declared = {"scans": {"kind": kind, "base_url": office.url, "types": ["pdf"]}}
    with Holdfast.open(
        tmp_path, run=False, processors=declared, file_processing_check_delay=0.01
    ) as hf:
        base = hf.create_base("scans", embedding_model=None, file_processor_id="scans")
        (item,) = hf.add(base, [File(content=b"%PDF", name="scan.pdf")]).created
        hf.drain(timeout=20)

        assert hf.item(item).status is COMPLETED
        assert [hit.item_id for hit in hf.search("text", bases=[base]).hits] == [item.id]
        assert hf.doctor() == []
    office.close()
