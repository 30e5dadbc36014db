"""Inputs of users: masks, regions and points, from files or from arrays."""
