"""Prompt."""
