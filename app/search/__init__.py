"""What is optimised over the engine."""
