"""Who runs builds: one process now, many workers later."""
