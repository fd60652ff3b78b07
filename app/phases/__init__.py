"""The steps of a build: data in, data out."""
