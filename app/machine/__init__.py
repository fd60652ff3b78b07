"""Transition tables, the lease and the driver, the only writer of BuildState."""
