"""Graphs for other libraries and of them, and archives to import again."""
