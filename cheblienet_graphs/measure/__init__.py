"""Measurements of graphs as numbers: moments, spectra, their errors, the verdict."""
