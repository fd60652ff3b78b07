"""Making calls and recording them: limits, attempts, cache, events. What is computed of records is in `metrics`."""
