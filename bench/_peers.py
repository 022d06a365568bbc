"""What does ingestion cost elsewhere? The same files, the same hash model, their own cutters.

Each as its documentation shows it, with incremental runs and the least durable store it has:
LangChain's `index` with a SQL record manager and vectors in memory, LlamaIndex's pipeline with a
docstore and vectors in memory, CocoIndex with its state on disk and rows in SQLite. Run by a Python
that has them (see requirements/bench-peers.in); nothing of it talks to anybody.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.ingest import change, peak, step
from holdfast.stages.embedding.hash_model import HashEmbedder

WIDTH, BATCH, CHARACTERS = 384, 128, 900
os.environ["COCOINDEX_DISABLE_USAGE_TRACKING"] = "1"
os.environ["ANONYMIZED_TELEMETRY"] = "False"


class Counted:
    """The hash model, counting its texts."""

    def __init__(self) -> None:
        self.model, self.texts = HashEmbedder(WIDTH), 0

    def __call__(self, texts: list[str]) -> list[Any]:
        self.texts += len(texts)
        return list(self.model.embed(texts))


def three(label: str, model: Counted, once: Any, folder: Path) -> dict[str, Any]:
    """The first run, the same again, and with one document of a hundred changed."""
    found: dict[str, Any] = {"label": label}
    for name in ("first", "again", "changed"):
        if name == "changed":
            change(folder)
        before = model.texts
        found[name] = step(once)
        found[name]["embedded"] = model.texts - before
    return {**found, "mb": peak()}


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(folder.glob("*.md")):
        yield str(path), path.read_text()


def langchain(folder: Path, data: Path) -> dict[str, Any]:
    from langchain_classic.indexes import (  # type: ignore[import-not-found]
        SQLRecordManager,
        index,
    )
    from langchain_core.documents import Document  # type: ignore[import-not-found]
    from langchain_core.embeddings import Embeddings  # type: ignore[import-not-found]
    from langchain_core.vectorstores import (  # type: ignore[import-not-found]
        InMemoryVectorStore,
    )
    from langchain_text_splitters import (  # type: ignore[import-not-found]
        RecursiveCharacterTextSplitter,
    )

    model = Counted()

    class Hashed(Embeddings):  # type: ignore[misc]
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [row.tolist() for row in model(texts)]

        def embed_query(self, text: str) -> list[float]:
            return self.embed_documents([text])[0]

    manager = SQLRecordManager("bench", db_url=f"sqlite:///{data / 'records.db'}")
    manager.create_schema()
    store = InMemoryVectorStore(Hashed())
    cutter = RecursiveCharacterTextSplitter(
        chunk_size=CHARACTERS, chunk_overlap=0, separators=["\n## ", "\n\n", " "]
    )

    def once() -> None:
        documents = [Document(text, metadata={"source": name}) for name, text in _texts(folder)]
        index(
            cutter.split_documents(documents),
            manager,
            store,
            cleanup="full",
            source_id_key="source",
            batch_size=BATCH,
            key_encoder="sha256",
        )

    return three("LangChain, vectors in memory", model, once, folder)


def llamaindex(folder: Path, data: Path) -> dict[str, Any]:
    from llama_index.core import Document  # type: ignore[import-not-found]
    from llama_index.core.embeddings import BaseEmbedding  # type: ignore[import-not-found]
    from llama_index.core.ingestion import (  # type: ignore[import-not-found]
        DocstoreStrategy,
        IngestionPipeline,
    )
    from llama_index.core.node_parser import MarkdownNodeParser  # type: ignore[import-not-found]
    from llama_index.core.storage.docstore import (  # type: ignore[import-not-found]
        SimpleDocumentStore,
    )
    from llama_index.core.vector_stores import SimpleVectorStore  # type: ignore[import-not-found]

    model = Counted()

    class Hashed(BaseEmbedding):  # type: ignore[misc]
        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return [row.tolist() for row in model(texts)]

        def _get_text_embedding(self, text: str) -> list[float]:
            return self._get_text_embeddings([text])[0]

        def _get_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_text_embedding(query)

    pipeline = IngestionPipeline(
        transformations=[MarkdownNodeParser(), Hashed(embed_batch_size=BATCH)],
        docstore=SimpleDocumentStore(),
        docstore_strategy=DocstoreStrategy.UPSERTS,
        vector_store=SimpleVectorStore(),
    )

    def once() -> None:
        pipeline.run(documents=[Document(text=text, doc_id=name) for name, text in _texts(folder)])
        pipeline.persist(str(data / "pipeline"))

    return three("LlamaIndex, vectors in memory", model, once, folder)


def cocoindex(folder: Path, data: Path) -> dict[str, Any]:
    from bench._cocoindex import app_of

    model = Counted()
    app = app_of(folder, data, model, CHARACTERS, BATCH)
    return three("CocoIndex, rows in SQLite", model, app.update_blocking, folder)


CHILDREN = {"langchain": langchain, "llamaindex": llamaindex, "cocoindex": cocoindex}

if __name__ == "__main__":
    print(json.dumps(CHILDREN[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))))
