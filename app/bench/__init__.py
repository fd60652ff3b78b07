"""Measuring this installation: one module per benchmark, each returning a report."""
