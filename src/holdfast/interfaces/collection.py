"""What is a collection of questions whose answers are known? A folder of three files.

`corpus.jsonl`, `queries.jsonl` ({"_id", "text", "title"?} a line) and `qrels.tsv` (question,
document, grade), each plain or with .gz behind its name: the form most such collections have.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from holdfast.domain.errors import InvalidInput

COLUMNS = 3


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents and questions by their ids, and the grades of what answers each question."""

    documents: dict[str, str]
    questions: dict[str, str]
    grades: dict[str, dict[str, int]]


def collection(folder: Path, questions: Path | None = None) -> Collection:
    """The collection; `questions` names a folder whose questions are put in their place."""
    grades: dict[str, dict[str, int]] = {}
    for question, document, grade in _judgements(folder):
        grades.setdefault(question, {})[document] = grade
    asked = dict(_texts(questions or folder, "queries.jsonl"))
    judged = {one: text for one, text in asked.items() if one in grades}
    if not judged:
        raise InvalidInput(f"no question of {questions or folder} stands in {folder}/qrels.tsv")
    return Collection(dict(_texts(folder, "corpus.jsonl")), judged, grades)


def _texts(folder: Path, name: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(_lines(folder, name), start=1):
        try:
            found = json.loads(line)
            parts = [found.get("title") or "", found["text"]]
            yield str(found["_id"]), "\n\n".join(part for part in parts if part)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            wanted = '{"_id": ..., "text": ...}'
            raise InvalidInput(f"{folder / name} line {number} is not {wanted}") from error


def _judgements(folder: Path) -> Iterator[tuple[str, str, int]]:
    for number, line in enumerate(_lines(folder, "qrels.tsv"), start=1):
        cells = line.split("\t")
        if len(cells) == COLUMNS and cells[2].strip().lstrip("-").isdecimal():
            yield cells[0], cells[1], int(cells[2])
        elif number > 1:  # the first line may name the columns
            raise InvalidInput(
                f"{folder}/qrels.tsv line {number} is not: question, document, grade"
            )


def _lines(folder: Path, name: str) -> Iterator[str]:
    plain, packed = folder / name, folder / f"{name}.gz"
    try:
        content = plain.read_bytes() if plain.is_file() else gzip.decompress(packed.read_bytes())
        yield from filter(str.strip, content.decode("utf-8").splitlines())
    except FileNotFoundError as error:
        raise InvalidInput(
            f"{folder} holds no {name} (nor {name}.gz)", advice="see docs/cli.md for the form"
        ) from error
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise InvalidInput(f"{folder}/{name} cannot be read: {error}") from error
