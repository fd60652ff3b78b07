"""Settings that `buildwright tune --auto` measured: kept beside the store, in force where nothing else is said."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from app.core.config import Settings
from app.core.errors import InputError
from app.metrics.steps import TUNABLE, TunedSettings
from app.model.base import changed

_FILE = "tuning.json"


def tuned(settings: Settings) -> Settings:
    """Return the settings with what was measured; what the environment says wins.

    Raises:
        InputError: what is kept cannot be read.
    """
    known = read_tuned(settings)
    if known is None:
        return settings
    measured = {name: getattr(known, name) for name in TUNABLE}
    said = settings.model_fields_set
    return changed(settings, **{name: value for name, value in measured.items() if value and name not in said})


def read_tuned(settings: Settings) -> TunedSettings | None:
    """Return what was measured, None where nothing was.

    Raises:
        InputError: the file is not one of this version.
    """
    path = _path(settings)
    try:
        return TunedSettings.model_validate_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError, ValidationError) as error:
        raise InputError(f"{path} cannot be used; `buildwright tune --forget` removes it.") from error


def write_tuned(settings: Settings, measured: TunedSettings | None) -> None:
    """Keep what was measured; None forgets it.

    Raises:
        InputError: the file cannot be written.
    """
    path = _path(settings)
    try:
        if measured is None:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".new")
        fresh.write_text(measured.model_dump_json(indent=2) + "\n", encoding="utf-8")
        fresh.replace(path)
    except OSError as error:
        raise InputError(f"Cannot write {path}: {error.strerror or error}.") from error


def _path(settings: Settings) -> Path:
    return settings.data_dir / _FILE
