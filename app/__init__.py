"""Buildwright: one sentence in, a Path of Exile 2 build that Path of Building has calculated out."""

__version__ = "0.1.0"
