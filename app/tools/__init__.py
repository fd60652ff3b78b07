"""Running and recording tool calls: attempts, events, metrics."""
