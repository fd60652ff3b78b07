"""Use cases: what a caller can ask of the product, the same for HTTP and the command line."""
