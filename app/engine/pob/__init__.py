"""Headless Path of Building in a child process."""
