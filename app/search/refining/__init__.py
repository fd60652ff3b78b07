"""Searching around a loaded file: every trial and every change respects what must stay."""
