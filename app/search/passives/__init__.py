"""Passives."""
