"""Graphs for other libraries, and archives to import again."""
