"""`python -m app` is `buildwright`."""

from app.cli import main

if __name__ == "__main__":
    main()
