"""The embedded estimator used when Path of Building is absent."""
