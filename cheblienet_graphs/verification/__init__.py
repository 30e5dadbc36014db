"""Verification that stores are as published: files, facts, arrays, and how they agree."""
