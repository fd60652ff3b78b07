"""What the command line prints and how it drives the use cases; commands themselves are in `app.cli`."""
