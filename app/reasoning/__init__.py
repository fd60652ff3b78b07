"""Who decides: the Reasoner port and its adapters."""
