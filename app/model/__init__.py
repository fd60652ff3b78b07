"""Pure data: what a build, its decisions and its conflicts are. No I/O."""
