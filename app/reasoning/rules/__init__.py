"""The rules reasoner: reads prompts by words and decides from the engine's facts, the same way every time."""

from app.reasoning.rules.reasoner import RulesReasoner

__all__ = ["RulesReasoner"]
