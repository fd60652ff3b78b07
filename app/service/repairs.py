"""Repairing: a file is taken in, and a child of it mends what the rules find wrong."""

from __future__ import annotations

from app.model.names import LOCAL_OWNER
from app.model.record import EngineChoice
from app.service.imports import ImportRequest, Imports
from app.service.intake import check_prompt
from app.service.refinement import Refinements, RefineRequest
from app.service.view import BuildView

EVERYTHING = "fix it"
"""What is asked for when nothing more is said."""


class Repairs:
    """Makes repaired children of files; the import itself stays as it came."""

    def __init__(self, imports: Imports, refinements: Refinements) -> None:
        self._imports = imports
        self._refinements = refinements

    async def create(
        self, request: ImportRequest, engine: EngineChoice = "auto", owner: str = LOCAL_OWNER
    ) -> BuildView:
        """Import the file and start the repair that `request.repair` asks for; return the child.

        Raises:
            InputError: the sentence cannot be used, or not exactly one of `xml` and `code` is given.
            TooLarge, BadImport, EngineRefused: as of an import.
        """
        prompt = check_prompt(request.repair) if isinstance(request.repair, str) else EVERYTHING
        taken_in = await self._imports.create(request, engine, owner)
        return await self._refinements.refine(taken_in.id, RefineRequest(prompt=prompt))
