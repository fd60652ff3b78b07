"""The reasoner that asks a language model: prompts out, checked answers in, rules wherever that fails."""
