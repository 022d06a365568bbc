"""Where is a provider's address and key found, and who says so when it is not?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from holdfast import Holdfast, Note
from holdfast.config import Settings, access_of, load, providers_named
from holdfast.domain.errors import HoldfastError, InvalidInput, Permanent
from tests.stages.remote.servers import WIDTH, serving

KEY = "sk-very-secret"


def settings(folder: Path, toml: str = "") -> Settings:
    (folder / "holdfast.toml").write_text(toml, "utf-8")
    return load(folder / "holdfast.toml")


@pytest.fixture(autouse=True)
def _no_usual_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def test_openai_is_there_without_being_declared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = settings(tmp_path)

    assert access_of(plain, "openai").base_url == "https://api.openai.com/v1"
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert access_of(plain, "openai").key == KEY


def test_a_setting_goes_before_the_usual_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "another")

    own = settings(tmp_path, f'openai_api_key = "{KEY}"\nopenai_base_url = "http://[::1]:1/v1/"')

    assert access_of(own, "openai").key == KEY
    assert access_of(own, "openai").base_url == "http://[::1]:1/v1"


def test_a_key_comes_from_the_environment_or_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "key").write_text(f"{KEY}\n", "utf-8")
    monkeypatch.setenv("MY_KEY", KEY)
    declared = settings(
        tmp_path,
        '[providers.one]\nbase_url = "http://127.0.0.1:1"\napi_key_env = "MY_KEY"\n'
        f'[providers.two]\nbase_url = "http://127.0.0.1:1"\napi_key_file = "{tmp_path / "key"}"\n'
        "[providers.local]\nconcurrency = 1\n",
    )

    assert [access_of(declared, name).key for name in ("one", "two")] == [KEY, KEY]
    assert providers_named(declared) == ["one", "openai", "two"]


@pytest.mark.parametrize(
    ("line", "words"),
    [('api_key_env = "NOT_SET_HERE"', "NOT_SET_HERE is not set"), ('api_key_file = "no"', "file")],
)
def test_a_key_that_is_not_where_it_should_be_is_named(
    tmp_path: Path, line: str, words: str
) -> None:
    declared = settings(tmp_path, f'[providers.one]\nbase_url = "http://127.0.0.1:1"\n{line}')

    with pytest.raises(InvalidInput, match=words):
        access_of(declared, "one")


@pytest.mark.parametrize(
    "toml",
    [
        f'[providers.one]\nbase_url = "http://127.0.0.1:1"\napi_key = ["{KEY}"]',
        f'[providers.one]\nbase_url = "ftp://127.0.0.1:1"\napi_key = "{KEY}"',
        f'[providers.one]\napikey = "{KEY}"',
        f'providers = "{KEY}"\n',
        f'openai_api_key = ["{KEY}"]',
    ],
)
def test_a_wrong_setting_is_told_without_the_key(tmp_path: Path, toml: str) -> None:
    with pytest.raises(InvalidInput, match=r"setting ") as refusal:
        settings(tmp_path, toml)

    assert KEY not in str(refusal.value)


def test_a_base_on_an_endpoint_is_made_filled_and_asked(tmp_path: Path) -> None:
    with (
        serving(key=KEY) as server,
        Holdfast.open(
            tmp_path,
            run=False,
            providers={"mine": {"base_url": server.base_url, "api_key": KEY}},
        ) as hf,
    ):
        base = hf.create_base("b", embedding_model="mine/small", rerank_model="mine/judge")
        (note,) = hf.add(base, Note("green tea", title="t")).created
        hf.drain()
        answer = hf.search("green tea", bases=[base])

    assert base.settings.dimensions == WIDTH
    assert [(hit.item_id, hit.score, hit.score_kind) for hit in answer.hits] == [
        (note.id, 2.0, "relevance")
    ]
    assert answer.warnings == ()
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and holds_key(path)]


def holds_key(path: Path) -> bool:
    return re.search(KEY.encode(), path.read_bytes()) is not None


def test_a_provider_whose_key_is_missing_makes_no_base(tmp_path: Path) -> None:
    declared = {"base_url": "http://127.0.0.1:1", "api_key_env": "NOT_SET_HERE"}
    with Holdfast.open(tmp_path, run=False, providers={"mine": declared}) as hf:
        with pytest.raises(HoldfastError, match="NOT_SET_HERE") as refusal:
            hf.create_base("b", embedding_model="mine/small")
        assert isinstance(refusal.value, Permanent)
        assert hf.bases() == []
