"""What is asked of an endpoint that speaks as OpenAI does, and what is made of its answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

import numpy as np
import pytest

from holdfast.config import Access
from holdfast.domain.errors import Permanent, ProviderDown, StageFailed, Transient
from holdfast.machine.clock import SystemClock
from holdfast.stages.embedding import openai_model
from holdfast.stages.embedding.openai_model import OpenAIEmbedder
from holdfast.stages.remote.endpoint import Endpoint
from tests.stages.remote.servers import WIDTH, Models, base64_of, serving, vector_of

TEXTS = [f"text {number}" for number in range(70)]
KEY = "sk-very-secret"


@contextmanager
def model(
    dimensions: int = WIDTH, key: str | None = None, asks: int | None = None, **what: Any
) -> Iterator[tuple[OpenAIEmbedder, Models]]:
    with serving(**what) as server:
        endpoint = Endpoint(Access("mine", "openai", server.base_url, key, asks), SystemClock())
        try:
            yield OpenAIEmbedder("small", endpoint, dimensions), server
        finally:
            endpoint.close()


def right(texts: list[str] = TEXTS) -> Any:
    return np.stack([vector_of(text) for text in texts])


def test_base64_is_asked_and_understood() -> None:
    with model() as (embedder, server):
        assert np.array_equal(embedder.embed(TEXTS), right())
        assert [one["encoding_format"] for one in server.asked] == ["base64"]
        assert server.asked[0]["model"] == "small"
        assert "dimensions" not in server.asked[0]


def test_plain_numbers_are_taken_whatever_was_asked_for() -> None:
    with model(only_floats=True) as (embedder, server):
        assert np.allclose(embedder.embed(TEXTS), right())
        assert len(server.asked) == 1


def test_a_server_without_base64_is_asked_for_numbers_from_then_on() -> None:
    with model(refuses_base64=True) as (embedder, server):
        embedder.embed(TEXTS[:2])
        embedder.embed(TEXTS[2:4])

        assert [one["encoding_format"] for one in server.asked] == ["base64", "float", "float"]


def test_base64_of_another_kind_of_number_is_found_out_by_its_width() -> None:
    def halves(data: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if isinstance(data[0]["embedding"], str):
            return [
                {**one, "embedding": base64_of(np.ones(WIDTH // 2, np.float32))} for one in data
            ]
        return data

    with model(spoil=halves) as (embedder, _):
        assert np.allclose(embedder.embed(TEXTS[:3]), right(TEXTS[:3]))


def test_a_batch_that_is_too_large_is_halved_and_that_is_remembered() -> None:
    with model(most=32) as (embedder, server):
        assert np.array_equal(embedder.embed(TEXTS), right())
        assert embedder.max_batch <= 32
        before = len(server.asked)

        embedder.embed(TEXTS)

        assert all(len(one["input"]) <= 32 for one in server.asked[before:])


def test_one_text_that_is_too_long_is_refused_alone_and_shrinks_no_batch() -> None:
    with model() as (embedder, server):
        server.most = 0

        with pytest.raises(Permanent, match="maximum allowed batch size") as refusal:
            embedder.embed(TEXTS[:4])

        assert refusal.value.code == "provider_failed"
        assert embedder.max_batch == 2_048


def test_rows_are_put_in_the_order_of_their_numbers() -> None:
    with model(spoil=lambda data: data[::-1]) as (embedder, _):
        assert np.array_equal(embedder.embed(TEXTS), right())


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data[:-1],
        lambda data: [*data, data[0]],
        lambda data: [data[0]] * len(data),
        lambda data: [{**one, "embedding": None} for one in data],
        lambda data: [{**one, "embedding": "?"} for one in data],
        lambda data: [{**one, "embedding": ["a"]} for one in data],
        lambda data: [{**data[0], "embedding": [1.0]}, *data[1:]],
        lambda data: ["vector"] * len(data),
        lambda data: None,
    ],
)
def test_an_answer_that_is_not_one_row_per_text_is_refused(spoil: Any) -> None:
    with model(spoil=spoil) as (embedder, _), pytest.raises(Permanent) as refusal:
        embedder.embed(TEXTS[:3])

    assert refusal.value.code == "bad_vectors"


def test_the_width_is_measured_when_nobody_says_it() -> None:
    with model(dimensions=0) as (embedder, _):
        assert embedder.width == WIDTH


def test_dimensions_are_asked_for_only_when_configured() -> None:
    with model(dimensions=0, asks=4) as (embedder, server):
        assert embedder.embed(["one"]).shape == (1, 4)
        assert server.asked[0]["dimensions"] == 4


def test_no_text_asks_nobody() -> None:
    with model() as (embedder, server):
        assert embedder.embed([]).shape == (0, WIDTH)
        assert server.asked == []


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, Permanent),
        (401, Permanent),
        (403, Permanent),
        (404, Permanent),
        (422, Permanent),
        (429, Transient),
        (408, Transient),
        (500, ProviderDown),
        (503, ProviderDown),
    ],
)
def test_a_refusal_is_for_good_or_for_now(status: int, kind: type[StageFailed]) -> None:
    with model() as (embedder, server):
        server.say = [(status, {}, {"error": {"message": "not today"}})] * 2
        with pytest.raises(kind, match=f"{status}: not today") as refusal:
            embedder.embed(["one"])

    assert type(refusal.value) is kind or kind is Permanent
    assert refusal.value.code == "provider_failed"


@pytest.mark.parametrize("given", ["7", "date", "99999999", "soon"])
def test_retry_after_is_heard_in_seconds_or_as_a_date_and_capped(given: str) -> None:
    later = format_datetime(datetime.fromtimestamp(SystemClock().wall() + 7, UTC), usegmt=True)
    header = {"Retry-After": later if given == "date" else given}
    with model() as (embedder, server):
        server.say = [(429, header, {})]
        with pytest.raises(Transient) as refusal:
            embedder.embed(["one"])

    heard = refusal.value.retry_after
    match given:
        case "soon":
            assert heard is None
        case "99999999":
            assert heard == 600
        case _:
            assert heard is not None
            assert 5 <= heard <= 7


def test_a_key_is_sent_and_never_told() -> None:
    with model(key=KEY) as (embedder, server):
        server.key = "another"
        with pytest.raises(Permanent, match=r"Incorrect API key provided: Bearer \*\*\*") as told:
            embedder.embed(["one"])
        server.key = KEY

        assert embedder.embed(["one"]).shape == (1, WIDTH)

    assert KEY not in f"{told.value!r} {told.value.advice}"
    assert KEY not in repr(embedder._endpoint.access)


def test_a_redirect_is_not_followed_with_the_key() -> None:
    with serving() as other, model(key=KEY) as (embedder, server):
        server.say = [(307, {"Location": f"{other.base_url}/embeddings"}, {})] * 2
        with pytest.raises(Permanent, match="307"):
            embedder.embed(["one"])

        assert other.asked == []


def test_nobody_listening_is_an_outage() -> None:
    with model() as (embedder, _):
        pass

    with pytest.raises(ProviderDown, match="cannot be reached"):
        embedder.embed(["one"])
    embedder._endpoint.close()


def test_an_answer_that_is_no_json_is_an_outage() -> None:
    with model() as (embedder, server):
        server.say = [(200, {}, b"<html>Gateway</html>")]
        with pytest.raises(ProviderDown, match="no JSON"):
            embedder.embed(["one"])


def test_a_server_that_does_not_answer_in_time_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_model, "SECONDS", 0.2)
    with model() as (embedder, server):
        server.say = [(200, {"Content-Length": "1000"}, b"{")]
        with pytest.raises(Transient, match="did not answer within"):
            embedder.embed(["one"])
