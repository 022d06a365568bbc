# The framework reads the annotations of these functions while they run: no future import here.
"""How is the bench's pipeline said in CocoIndex? Files, pieces, rows; each file remembered."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cocoindex as coco  # type: ignore[import-not-found]
from cocoindex.connectors import localfs, sqlite  # type: ignore[import-not-found]
from cocoindex.ops.text import RecursiveSplitter  # type: ignore[import-not-found]
from cocoindex.resources.file import PatternFilePathMatcher  # type: ignore[import-not-found]

DATABASE = coco.ContextKey("database")
CUTTER = RecursiveSplitter()
GIVEN: dict[str, Any] = {}


@dataclass
class Row:
    key: str
    path: str
    start: int
    end: int
    text: str
    vector: bytes


@coco.fn.as_async(batching=True, max_batch_size=128)
def embedded(texts: list[str]) -> list[bytes]:
    return [row.tobytes() for row in GIVEN["model"](texts)]


async def one_piece(piece: Any, path: str, table: Any) -> None:
    row = Row(
        key=f"{path}:{piece.start.char_offset}",
        path=path,
        start=piece.start.char_offset,
        end=piece.end.char_offset,
        text=piece.text,
        vector=await embedded(piece.text),
    )
    table.declare_row(row=row)


@coco.fn(memo=True)
async def one_file(file: localfs.File, table: sqlite.TableTarget) -> None:
    text = await file.read_text()
    pieces = CUTTER.split(
        text, chunk_size=GIVEN["characters"], chunk_overlap=0, language="markdown"
    )
    await coco.map(one_piece, pieces, str(file.file_path.path), table)


@coco.fn
async def all_files(folder: Path) -> None:
    schema = await sqlite.TableSchema.from_class(Row, primary_key=["key"])
    table = await sqlite.mount_table_target(DATABASE, "piece", schema)
    matcher = PatternFilePathMatcher(included_patterns=["**/*.md"])
    files = localfs.walk_dir(folder, recursive=True, path_matcher=matcher)
    await coco.mount_each(one_file, files.items(), table)


def app_of(
    folder: Path, data: Path, model: Callable[[list[str]], list[Any]], characters: int, batch: int
) -> Any:
    """Ready to be updated; its state lies in the data folder."""
    GIVEN.update(model=model, characters=characters, batch=batch)

    @coco.lifespan
    async def provide(builder: coco.EnvironmentBuilder) -> AsyncIterator[None]:
        builder.settings.db_path = data / "state"
        builder.provide_with(DATABASE, sqlite.managed_connection(data / "rows.db"))
        yield

    return coco.App(coco.AppConfig(name="Bench"), all_files, folder=folder)
