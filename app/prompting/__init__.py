"""Prompts and the domain knowledge injected into them."""
