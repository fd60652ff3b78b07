"""Construct."""
