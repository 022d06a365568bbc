"""Tokens are counted as the model's own tokenizer counts them, with exact places."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.domain.errors import Permanent
from holdfast.stages.chunking import tokens
from holdfast.stages.chunking.tokens import counter
from holdfast.stages.embedding.local.wordpieces import word_pieces

TEXTS = [
    "Hold both buttons for five seconds; then wait.\n\n## Über-settings (v2.1)\n",
    "同时按住两个按钮五秒钟，即可清除 all settings。かな カタカナ 한국어",
    "def unfold(model: Any) -> None:\n    return {one.name: one for one in graph}\n",
    "",
    " \n\t ",
    "naïve café ﬁne 5½ ㎏ 🙂🙂 \u200b zero\u00a0width",
]


@pytest.mark.parametrize("text", TEXTS)
def test_minilm_s_tokens_are_counted_as_its_tokenizer_does(text: str) -> None:
    read = word_pieces().encode(text, add_special_tokens=False)

    assert counter("minilm").count(text) == len(read.ids)
    assert counter("minilm").starts(text) == [start for start, _ in read.offsets]


@pytest.mark.parametrize("name", ["minilm", "use", None])
@settings(deadline=None, max_examples=40)  # the first example loads the tokenizer
@given(text=st.text(max_size=300))
def test_starts_are_as_many_as_tokens_in_order_and_inside(name: str | None, text: str) -> None:
    starts = counter(name).starts(text)

    assert len(starts) == counter(name).count(text)
    assert starts == sorted(starts)
    assert all(0 <= start < len(text) for start in starts)


@pytest.mark.parametrize("name", ["minilm", "use"])
def test_a_word_without_end_counts_as_many(name: str) -> None:
    assert counter(name).count("x" * 10_000) >= 100


@pytest.mark.parametrize("name", ["minilm", "use"])
def test_half_a_pair_of_code_units_is_counted(name: str) -> None:
    assert counter(name).count("a \ud800 b") >= 2


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "MOST_KNOWN", 10)
    met = tokens.Counter(tokens.UNSPACED, lambda words: [(0,)] * len(words))

    assert [met.count(" ".join(f"w{n}{i}" for i in range(8))) for n in range(5)] == [8] * 5
    assert len(met._known) <= 10


def test_an_unknown_tokenizer_is_refused() -> None:
    with pytest.raises(Permanent, match="'nobody'"):
        counter("nobody")
