"""Layers of networks: Chebyshev convolutions, and maps between the spaces that signals live on."""
