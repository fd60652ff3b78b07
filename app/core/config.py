"""Settings: read once from the environment (prefix BUILDWRIGHT_), frozen, handed down by `wiring`."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

_APP = Path(__file__).resolve().parent.parent


def resource_dir(name: Literal["prompts", "domain", "evals", "migrations"]) -> Path:
    """Return the folder of the resource.

    Raises:
        FileNotFoundError: the installation is incomplete.
    """
    for candidate in (_APP / "_bundled" / name, _APP.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"the installation has no {name!r} folder")


LlmStep = Literal["extract", "decompose", "explore", "construct", "validate", "iterate"]
"""The steps for which another language model can be named."""


class Settings(BaseSettings):
    """All settings; each has a row in the README."""

    model_config = SettingsConfigDict(env_prefix="BUILDWRIGHT_", frozen=True, extra="ignore")

    database_url: str | None = None
    pob_path: Path | None = None
    engine: Literal["auto", "pob", "sketch"] = "auto"
    engine_workers: int = Field(default=0, ge=0, le=64)
    whatif_batch: int = Field(default=4, ge=1, le=32)
    reasoner: Literal["auto", "rules", "llm"] = "auto"
    llm_provider: Literal["openai", "anthropic"] = "openai"
    llm_base_url: str | None = None
    llm_allow_private: bool = False
    llm_model: str | None = None
    llm_api_key: SecretStr | None = None
    llm_timeout_s: float = Field(default=60.0, gt=0)
    llm_stream: bool = False
    llm_models: dict[LlmStep, str] = Field(default_factory=dict)
    llm_prices: dict[str, dict[str, Decimal]] = Field(default_factory=dict)
    efficiency_weights: str = "second=0.5,call=0.3,usd=0.2"
    build_budget_usd: Decimal | None = Field(default=None, ge=0)
    build_budget_tokens: int | None = Field(default=None, ge=0)
    build_budget_rounds: int = Field(default=200, ge=0)
    build_budget_seconds: float | None = Field(default=None, gt=0)
    build_budget_calls: int | None = Field(default=None, ge=0)
    day_budget_calls: int | None = Field(default=None, ge=0)
    day_budget_tokens: int | None = Field(default=None, ge=0)
    day_budget_usd: Decimal | None = Field(default=None, ge=0)
    cache_mb: int = Field(default=256, ge=0, le=100_000)
    cache_memory_mb: int = Field(default=64, ge=0, le=10_000)
    cache_ttl_hours: float | None = Field(default=None, gt=0)
    cache_skip: str = ""
    memory: Literal["learn", "use", "off"] = "learn"
    keep_event_days: float = Field(default=30.0, ge=0, le=100_000)
    keep_days: float | None = Field(default=None, ge=0, le=100_000)
    keep_gb: float | None = Field(default=None, ge=0)
    otel: Literal["off", "on"] = "off"
    api_tokens: SecretStr | None = None
    token_builds_per_day: int | None = Field(default=None, ge=0)
    token_requests_per_minute: int | None = Field(default=None, ge=1)
    data_dir: Path = Field(default_factory=lambda: Path.home() / ".local" / "share" / "buildwright")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"

    @property
    def database(self) -> str:
        """Return the SQLAlchemy URL of the store, by default an SQLite file in `data_dir`."""
        return self.database_url or f"sqlite+aiosqlite:///{self.data_dir / 'buildwright.db'}"

    @property
    def pob_home(self) -> Path:
        """Return where Path of Building is, or would be installed."""
        return self.pob_path or self.data_dir / "pob"
