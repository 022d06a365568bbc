"""The words other programs read: camelCase, times with a Z, users' keys as they are."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from holdfast.domain.errors import Blocking, Conflict
from holdfast.domain.items import Page
from holdfast.domain.progress import Progress
from holdfast.interfaces.words import camel, error_document, iso, page_document, plain


def test_fields_are_written_in_camel_case() -> None:
    assert [camel(name) for name in ("id", "chunk_count", "file_processing_max_wait")] == [
        "id",
        "chunkCount",
        "fileProcessingMaxWait",
    ]


def test_times_are_utc_with_a_z_whatever_zone_they_come_in() -> None:
    at = datetime(2026, 3, 1, 14, 30, 0, 123_456, tzinfo=timezone(timedelta(hours=2)))

    assert iso(at) == "2026-03-01T12:30:00.123Z"
    assert iso(at.astimezone(UTC)) == iso(at)


def test_what_a_user_chose_as_a_key_stays_as_it_is() -> None:
    assert plain({"my_key": Progress(1, stage="reading")}) == {
        "my_key": {
            "percent": 1,
            "stage": "reading",
            "chunksDone": 0,
            "chunksTotal": None,
            "rate": None,
            "secondsLeft": None,
            "waiting": None,
        }
    }


def test_a_page_has_items_and_a_cursor() -> None:
    assert page_document(Page((), "0.x")) == {"items": [], "nextCursor": "0.x"}


def test_an_error_has_code_message_advice_and_what_blocks() -> None:
    error = Conflict("no", blocking=[Blocking("1", "a.md", "reading")])

    told = error_document(error)["error"]

    assert (told["code"], told["message"]) == ("conflict", "no")
    assert told["blocking"] == [{"itemId": "1", "name": "a.md", "status": "reading"}]
    assert error_document(error, "wait")["error"]["advice"] == "wait"
