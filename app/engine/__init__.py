"""The calculator port and its two adapters: Path of Building and the sketch estimator."""
