"""Which settings are there? Every one once: name, type, default, one line of meaning.

Sources are merged in one order: file (holdfast.toml), environment (HOLDFAST_...), arguments.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from tomllib import TOMLDecodeError
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from holdfast.domain.errors import InvalidInput

CONFIG_FILE = "holdfast.toml"
OPENAI, OPENAI_ADDRESS = "openai", "https://api.openai.com/v1"
OFFICE = ("pdf", "docx", "pptx", "xlsx")
PICTURES = ("png", "jpg", "jpeg", "tif", "tiff", "webp", "bmp")


class ProcessorSettings(BaseModel):
    """One `[processors.NAME]`: who makes Markdown of documents, of which, and how many at once."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["docling", "mineru"]
    base_url: str | None = Field(None, description="where the service answers")
    api_key: SecretStr | None = Field(None, description="its key")
    api_key_env: str | None = Field(None, description="the environment variable with its key")
    types: tuple[str, ...] | None = Field(None, description="endings of the files it is given")
    max_conversions: int | None = Field(None, ge=1, le=64, description="documents at once")
    options: dict[str, str] = Field(default_factory=dict, description="form fields it is sent")

    @property
    def places(self) -> int:
        """How many documents it has of us at once."""
        return self.max_conversions or 2

    @property
    def declared(self) -> frozenset[str]:
        """The endings of the files it is given."""
        if self.types is not None:
            return frozenset(ending.lower().lstrip(".") for ending in self.types)
        return frozenset(OFFICE + PICTURES)

    @property
    def manner(self) -> str:
        """What decides the outcome: files made in another manner are made again."""
        said = (self.kind, sorted(self.options.items()))
        return sha256(repr(said).encode()).hexdigest()[:16]

    def key(self) -> str | None:
        """The key itself, from the file or the environment."""
        if self.api_key is not None:
            return self.api_key.get_secret_value()
        return (_environment(self.api_key_env) or None) if self.api_key_env else None


class Provider(BaseModel):
    """What is special about one provider of models: a table `[providers.NAME]` of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["openai", "jina", "cohere", "tei"] = Field("openai", description="what it speaks")
    base_url: str | None = Field(
        None, pattern=r"^https?://[^\s/]+", description="address up to the name of the call"
    )
    api_key: SecretStr | None = Field(None, description="its key; better one of the next two")
    api_key_env: str | None = Field(None, description="environment variable that holds the key")
    api_key_file: Path | None = Field(None, description="file that holds the key")
    dimensions: int | None = Field(
        None, ge=1, le=16_384, description="width asked of its models; asked only if given"
    )
    concurrency: int | None = Field(None, ge=1, le=256, description="calls at once")
    requests_per_minute: int | None = Field(None, ge=0, description="calls a minute, 0: no limit")
    tokens_per_minute: int | None = Field(None, ge=0, description="tokens a minute, 0: no limit")


class Settings(BaseSettings):
    """The settings of one installation."""

    from_file: ClassVar[Path | None] = None
    model_config = SettingsConfigDict(env_prefix="HOLDFAST_", extra="forbid", frozen=True)

    default_embedding_model: str | None = Field(
        "local/auto", description="model of a base that names none; 'none': keywords only"
    )
    local_model_folder: Path | None = Field(
        None, description="folder with the files of the local models, instead of their wheels"
    )
    model_cache: Path | None = Field(None, description="folder for what is made of models once")
    global_concurrency: int = Field(4, ge=1, le=256, description="index jobs at once")
    per_base_concurrency: int = Field(2, ge=1, le=256, description="index jobs at once in one base")
    control_concurrency: int = Field(
        4, ge=1, le=64, description="expansions at once, 2 in one base"
    )
    poll_concurrency: int = Field(2, ge=1, le=64, description="remote processing checks at once")
    urgent_concurrency: int = Field(2, ge=1, le=64, description="deletes at once")
    io_concurrency: int = Field(3, ge=1, le=256, description="items being read at once")
    embedding_concurrency: int = Field(
        3, ge=1, le=256, description="calls at once to one provider of models"
    )
    requests_per_minute: int = Field(
        0, ge=0, description="calls a minute to one provider of models, 0: no limit"
    )
    tokens_per_minute: int = Field(
        0, ge=0, description="tokens a minute to one provider of models, 0: no limit"
    )
    provider_probe_interval: float = Field(
        15.0, gt=0, le=600, description="seconds between looks at a provider that does not answer"
    )
    providers: dict[str, Provider] = Field(
        default_factory=dict[str, Provider], description="providers of models by name"
    )
    openai_base_url: str | None = Field(
        None, pattern=r"^https?://[^\s/]+", description="address of the provider openai"
    )
    openai_api_key: SecretStr | None = Field(None, description="key of the provider openai")
    write_concurrency: int = Field(2, ge=1, le=64, description="index writes at once")
    max_queue_size: int = Field(
        100_000, ge=1, description="unfinished jobs before adds are refused"
    )
    large_item_bytes: int = Field(20 << 20, ge=1, description="items from this size count as large")
    max_file_bytes: int | None = Field(
        None, ge=1, description="largest file of a folder or path that is read; none: any"
    )
    max_upload_bytes: int = Field(2 << 30, ge=1, description="largest content given as bytes")
    in_process_bytes: int = Field(
        64 << 10, ge=0, description="largest text that is read in memory, by the engine itself"
    )
    parser_memory: int = Field(
        1 << 30, ge=256 << 20, description="address space of a process that reads one document"
    )
    parser_timeout: int = Field(
        600, ge=1, description="seconds a document may compute, and may keep silent, being read"
    )
    parser_output: int = Field(
        256 << 20, ge=1 << 20, description="bytes one document may turn into, beside 8 x its size"
    )
    ocr_languages: str = Field(
        "",
        pattern=r"^[A-Za-z0-9_+-]*$",
        description="languages tesseract reads scans in (eng+chi_sim); none: scans wait for OCR",
    )
    fetch_ports: Annotated[tuple[int, ...], NoDecode] = Field(
        (), description="ports that pages are fetched from beside 80 and 443"
    )
    fetch_allow: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="networks and hosts that are fetched from though they are not public"
    )
    fetch_max_bytes: int = Field(50 << 20, ge=1, description="largest page, unpacked")
    fetch_timeout: float = Field(
        60.0, gt=0, le=3_600, description="seconds one fetch may take with all its redirects"
    )
    follow_symlinks: bool = Field(
        False, description="index the files that symbolic links in folders lead to"
    )
    min_free_bytes: int = Field(1 << 30, ge=0, description="free space below which intake stops")
    min_free_percent: int = Field(5, ge=0, le=90, description="the same, as a share of the disk")
    reserve_bytes: int = Field(
        16 << 20, ge=0, description="room kept so that deletes work on a full disk"
    )
    batch_size: int = Field(128, ge=1, le=2_048, description="texts in one model call")
    stale_queued: int = Field(600, ge=1, description="seconds queued without a job before takeover")
    stale_indexing: int = Field(2_700, ge=1, description="seconds without progress before takeover")
    lease: int = Field(60, ge=2, description="seconds a claim is held without being renewed")
    lease_renewal: int = Field(15, ge=1, description="seconds between renewals of a claim")
    lease_expires: bool = Field(False, description="free claims by time (several processes only)")
    sweep_interval: int = Field(60, ge=1, description="seconds between sweeps")
    purge_after: int = Field(600, ge=0, description="seconds deleted text may stay in the files")
    stop_patience: float = Field(10.0, ge=0, description="seconds a graceful stop waits for work")
    progress_interval: float = Field(
        0.3, ge=0, description="seconds between stored progress values"
    )
    read_weight: int = Field(60, ge=1, le=99, description="share of reading in an item's progress")
    file_grace: int = Field(
        3_600, ge=0, description="seconds before an unreferenced file is removed"
    )
    keep_jobs_days: int = Field(7, ge=0, description="days finished jobs are kept")
    keep_jobs_newest: int = Field(100, ge=0, description="finished jobs kept of each kind")
    keep_events_days: int = Field(30, ge=0, description="days the ledger is kept")
    keep_events_per_item: int = Field(200, ge=1, description="ledger entries kept of one item")
    keep_events: int = Field(1_000_000, ge=1, description="ledger entries kept in all")
    keep_answers_hours: int = Field(24, ge=1, description="hours an Idempotency-Key is remembered")
    file_processing_check_delay: float = Field(
        5.0, gt=0, le=600, description="seconds between looks at a document being processed"
    )
    processors: dict[str, ProcessorSettings] = Field(
        default_factory=dict, description="who makes Markdown of documents, by name"
    )

    def declares(self, processor: str, file_name: str) -> bool:
        """Is a file of this name for that processor? One that is not known here is missed."""
        known = self.processors.get(processor)
        declared = known.declared if known is not None else frozenset(OFFICE + PICTURES)
        _, dot, ending = file_name.rpartition(".")
        return bool(dot) and ending.lower() in declared

    @field_validator("fetch_ports", "fetch_allow", mode="before")
    @classmethod
    def _listed(cls, given: Any) -> Any:
        """The environment and a shell have text where a file has a list."""
        if not isinstance(given, str):
            return given
        return [part.strip() for part in given.split(",") if part.strip()]

    @field_validator("fetch_ports")
    @classmethod
    def _ports(cls, given: tuple[int, ...]) -> tuple[int, ...]:
        if not all(0 < port < 1 << 16 for port in given):
            raise ValueError("a port is a number from 1 to 65535")
        return given

    @field_validator("default_embedding_model", mode="before")
    @classmethod
    def _none_is_a_word(cls, given: object) -> object:
        """TOML and the environment cannot say nothing otherwise."""
        return None if given in {"none", ""} else given

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments first, then the environment, then the file named in the arguments."""
        return (init_settings, env_settings, TomlConfigSettingsSource(settings_cls, cls.from_file))


def load(file: Path | None = None, **given: Any) -> Settings:
    """The settings from all sources; InvalidInput names the setting and what it takes."""
    layered = type("Settings", (Settings,), {"from_file": file, "__module__": __name__})
    try:
        settings: Settings = layered(**given)
    except ValidationError as error:
        raise InvalidInput(_sentence(error)) from error
    except TOMLDecodeError as error:
        raise InvalidInput(f"{file} is not valid TOML: {error}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{file} cannot be read: {error}") from error
    return settings


@dataclass(frozen=True, slots=True)
class Access:
    """A provider as it is asked; the key shows in nothing that is printed."""

    name: str
    kind: str
    base_url: str
    key: str | None = field(default=None, repr=False)
    dimensions: int | None = None


def providers_named(settings: Settings) -> list[str]:
    """Those that have an address: the declared ones, and `openai` in any case."""
    declared = [name for name, one in settings.providers.items() if one.base_url is not None]
    return sorted({OPENAI, *declared})


def access_of(settings: Settings, name: str) -> Access:
    """Where and with which key; InvalidInput when the key cannot be found where it should be."""
    declared = settings.providers.get(name, Provider())
    usual = name == OPENAI
    address = declared.base_url or (_openai_address(settings) if usual else None)
    if address is None:
        raise InvalidInput(f"providers.{name} has no base_url")
    key = _key(name, declared)
    if key is None and usual:
        own = settings.openai_api_key
        key = own.get_secret_value() if own else _environment("OPENAI_API_KEY") or None
    return Access(name, declared.kind, address.rstrip("/"), key, declared.dimensions)


def _openai_address(settings: Settings) -> str:
    return settings.openai_base_url or _environment("OPENAI_BASE_URL") or OPENAI_ADDRESS


def _key(name: str, declared: Provider) -> str | None:
    if declared.api_key is not None:
        return declared.api_key.get_secret_value()
    if declared.api_key_env is not None:
        found = _environment(declared.api_key_env)
        if not found:
            variable = declared.api_key_env
            raise InvalidInput(f"providers.{name}.api_key_env: {variable} is not set")
        return found
    if declared.api_key_file is None:
        return None
    try:
        return declared.api_key_file.expanduser().read_text("utf-8").strip() or None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"providers.{name}.api_key_file cannot be read: {error}") from error


def data_folder() -> Path:
    """Where a user's knowledge is kept when nobody says where."""
    named = _environment("HOLDFAST_DATA")
    if named:
        return Path(named)
    home = _environment("XDG_DATA_HOME")
    return (Path(home) if home else Path.home() / ".local" / "share") / "holdfast"


def cache_folder() -> Path:
    """Where is kept what can be made again."""
    home = _environment("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "holdfast"


def _environment(name: str) -> str:
    return os.environ.get(name, "")  # noqa: TID251  (here, and nowhere else)


def _sentence(error: ValidationError) -> str:
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"]) or "settings"
    given = first.get("input")
    is_secret = "key" in name or name.startswith("providers")  # a table may hold one
    return f"setting {name}{'' if is_secret else f' is {given!r}'}: {first['msg']}"
