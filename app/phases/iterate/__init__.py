"""Iterate."""
