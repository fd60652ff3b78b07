"""Every SQL statement on evaluation runs."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Integer, cast, func, select
from sqlalchemy.exc import IntegrityError
from sqlmodel import col

from app.core.errors import Conflict
from app.model.evaluations import EvaluationRun, LabelSummary
from app.storage.database import Database
from app.storage.tables import EvaluationRow, ResultFileRow


class SqlEvaluationStore:
    """The EvaluationStore port on SQL."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, run: EvaluationRun) -> None:
        """Store the run.

        Raises:
            Conflict: this trial of the task is stored under the label already.
        """
        fields = run.model_dump(exclude={"checks"}) | {"checks": [check.model_dump() for check in run.checks]}
        try:
            async with self._database.write() as session:
                session.add(EvaluationRow(**fields))
        except IntegrityError as exc:
            msg = f"trial {run.trial} of {run.task} is stored under {run.label} already"
            raise Conflict(msg) from exc

    async def of(self, label: str) -> list[EvaluationRun]:
        """Return the runs under the label, by task and trial."""
        query = select(EvaluationRow).where(col(EvaluationRow.label) == label)
        query = query.order_by(col(EvaluationRow.task), col(EvaluationRow.trial))
        async with self._database.read() as session:
            rows = await session.scalars(query)
            return [EvaluationRun.model_validate({n: getattr(r, n) for n in EvaluationRun.model_fields}) for r in rows]

    async def keep(self, label: str, content: str, at: datetime) -> None:
        """Keep a result file of runs that were made elsewhere.

        Raises:
            Conflict: something is kept, or was run here, under the label.
        """
        msg = f"there are runs under the label {label} already"
        if await self.of(label):
            raise Conflict(msg)
        try:
            async with self._database.write() as session:
                session.add(ResultFileRow(label=label, content=content, at=at))
        except IntegrityError as exc:
            raise Conflict(msg) from exc

    async def kept(self, label: str) -> str | None:
        """Return the result file kept under the label, None when there is none."""
        async with self._database.read() as session:
            row = await session.get(ResultFileRow, label)
            return None if row is None else row.content

    async def labels(self) -> list[LabelSummary]:
        """Return every label with its counts, newest first."""
        row = EvaluationRow
        newest = func.max(col(row.at)).label("at")
        query = (
            select(
                col(row.label),
                func.min(col(row.suite)).label("suite"),
                func.count(col(row.task).distinct()).label("tasks"),
                func.count().label("runs"),
                func.sum(cast(col(row.passed), Integer)).label("passed"),
                newest,
            )
            .group_by(col(row.label))
            .order_by(newest.desc(), col(row.label))
        )
        async with self._database.read() as session:
            return [LabelSummary.model_validate(dict(found)) for found in (await session.execute(query)).mappings()]
