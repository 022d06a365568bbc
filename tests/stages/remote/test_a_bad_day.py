"""A thousand times each: whatever an endpoint does, a row is the right one or there is none."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from holdfast.config import Access
from holdfast.domain.errors import Permanent, ProviderDown, StageFailed, Transient
from holdfast.machine.clock import SystemClock
from holdfast.stages.embedding import openai_model
from holdfast.stages.embedding.checks import checked
from holdfast.stages.embedding.openai_model import OpenAIEmbedder
from holdfast.stages.remote.endpoint import Endpoint
from tests.stages.remote.servers import WIDTH, base64_of, serving, vector_of

TIMES = 1_000
TEXTS = ["one", "two", "three"]
RIGHT = np.stack([vector_of(text) for text in TEXTS])


def instead(numbers: list[float]) -> Any:
    """The second vector of each answer is another one."""
    row = base64_of(np.array(numbers, np.float32))
    return lambda data: [{**one, "embedding": row} if one["index"] == 1 else one for one in data]


def outcome(embedder: OpenAIEmbedder) -> str:
    try:
        rows = checked(embedder.embed(TEXTS), len(TEXTS), WIDTH)
    except StageFailed as error:
        return next(kind.__name__ for kind in KINDS if isinstance(error, kind))
    return "right" if np.array_equal(rows, RIGHT) else "WRONG"


KINDS = (ProviderDown, Transient, Permanent)
REFUSALS = {
    "429": ((429, {"Retry-After": "3"}, {"error": {"message": "slow down"}}), "Transient"),
    "500": ((500, {}, {"error": {"message": "oh"}}), "ProviderDown"),
    "late": ((200, {"Content-Length": "999"}, b"{"), "Transient"),
}
SPOILT = {
    "short": (lambda data: data[:-1], "Permanent"),
    "nan": (instead([float("nan")] * WIDTH), "Permanent"),
    "zero": (instead([0.0] * WIDTH), "Permanent"),
    "wide": (instead([1.0] * WIDTH * 2), "Permanent"),
    "all wide": (
        lambda data: [
            {**one, "embedding": base64_of(np.ones(WIDTH * 2, np.float32))} for one in data
        ],
        "Permanent",
    ),
    "twice": (lambda data: [data[0], *data[:-1]], "Permanent"),
    "reordered": (lambda data: data[::-1], "right"),
}


def counted(**server_is: Any) -> Counter[str]:
    say = server_is.pop("say", None)
    with serving(**server_is) as server:
        if say is not None:
            server.say = [say] * TIMES
        endpoint = Endpoint(Access("mine", "openai", server.base_url), SystemClock())
        embedder = OpenAIEmbedder("small", endpoint, WIDTH)
        with ThreadPoolExecutor(8) as pool:
            found = Counter(pool.map(outcome, [embedder] * TIMES))
        endpoint.close()
        return found


@pytest.mark.slow
@pytest.mark.parametrize("what", REFUSALS)
def test_refusals_a_thousand_times(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_model, "SECONDS", 0.05 if what == "late" else 60.0)
    say, kind = REFUSALS[what]

    assert counted(say=say) == {kind: TIMES}


@pytest.mark.slow
@pytest.mark.parametrize("what", SPOILT)
def test_spoilt_answers_a_thousand_times(what: str) -> None:
    spoil, kind = SPOILT[what]

    assert counted(spoil=spoil) == {kind: TIMES}
