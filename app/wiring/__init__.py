"""The composition root: the only package that names concrete classes and decides which of them work together."""

from app.wiring.engines import ConfiguredEngines, engine_workers, install_pob, installed_pob
from app.wiring.services import open_reading, open_services
from app.wiring.stores import database_url, redactor, store_is_current, store_report, upgrade_store

__all__ = [
    "ConfiguredEngines",
    "database_url",
    "engine_workers",
    "install_pob",
    "installed_pob",
    "open_reading",
    "open_services",
    "redactor",
    "store_is_current",
    "store_report",
    "upgrade_store",
]
