"""What a build took from memory."""

from __future__ import annotations

from app.model.base import Model

LOCAL_OWNER = "local"
"""Whose builds those are that no access token came with."""


class UsedMemory(Model):
    """A memory that a build used: of which build, what of it ("the whole build", "supports, passives"), its score."""

    build_id: str
    part: str
    score: float
