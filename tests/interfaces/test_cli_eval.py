"""`holdfast eval`: a collection is indexed, asked and judged, and nothing of it stays."""

from __future__ import annotations

import gzip
import json

import pytest

from tests.interfaces.doors import Shell

CORPUS = {"d0": "Green tea is steeped at seventy degrees.", "d1": "The engine needs oil."}
QUERIES = {"q0": "green tea", "q1": "engine oil", "unjudged": "nothing"}


def lines(texts: dict[str, str]) -> str:
    return "".join(json.dumps({"_id": name, "text": text}) + "\n" for name, text in texts.items())


@pytest.fixture
def folder(shell: Shell) -> str:
    shell.write(
        {
            "corpus.jsonl": lines(CORPUS),
            "queries.jsonl.gz": gzip.compress(lines(QUERIES).encode()),
            "qrels.tsv": "query-id\tcorpus-id\tscore\nq0\td0\t1\nq1\td1\t1\n",
        },
        "known",
    )
    return "known"


def test_every_mode_is_judged(shell: Shell, folder: str) -> None:
    told = shell.json("eval", folder, "--model", "hash/64")

    assert (told["documents"], told["questions"], told["model"]) == (2, 2, "hash/64")
    assert [one["mode"] for one in told["verdicts"]] == ["hybrid", "vector", "keyword"]
    assert all(one["quality"] == {"ndcg": 1, "recall": 1, "mrr": 1} for one in told["verdicts"])
    assert not shell.data.exists()


def test_without_a_model_only_words_are_asked(shell: Shell, folder: str) -> None:
    said = shell.run("eval", folder, "--model", "none")

    assert "keyword" in said.out
    assert "vector" not in said.out
    assert "1.0000" in said.out


def test_questions_may_come_from_elsewhere(shell: Shell, folder: str) -> None:
    shell.write({"queries.jsonl": lines({"q0": "engine"})}, "other")

    told = shell.json("eval", folder, "--queries", "other", "--model", "none")

    assert told["questions"] == 1
    assert told["verdicts"][0]["quality"]["mrr"] == 0


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "holds no qrels.tsv"),
        ({"qrels.tsv": "a\tb\t1\nbroken\n"}, "qrels.tsv line 2"),
        ({"qrels.tsv": "q\td\t1\n", "queries.jsonl": "{}\n"}, "queries.jsonl line 1"),
        ({"qrels.tsv": "q\td\t1\n", "queries.jsonl": lines(QUERIES)}, "no question of"),
        ({"qrels.tsv.gz": b"no gzip"}, "cannot be read"),
    ],
)
def test_a_folder_of_another_form_is_refused(
    shell: Shell, files: dict[str, str | bytes], words: str
) -> None:
    shell.write({"x": "", **files}, "wrong")

    told = shell.json("eval", "wrong", code=2)

    assert words in told["error"]["message"]
