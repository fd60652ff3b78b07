"""The composition root: the only package that names concrete classes and decides which of them work together."""

from app.wiring.engines import ConfiguredEngines, engine_workers, install_pob, installed_pob, probe_confinement
from app.wiring.services import open_reading, open_services, open_worker
from app.wiring.stores import copy_store, database_url, redactor, store_is_current, store_report, upgrade_store

__all__ = [
    "ConfiguredEngines",
    "copy_store",
    "database_url",
    "engine_workers",
    "install_pob",
    "installed_pob",
    "open_reading",
    "open_services",
    "open_worker",
    "probe_confinement",
    "redactor",
    "store_is_current",
    "store_report",
    "upgrade_store",
]
