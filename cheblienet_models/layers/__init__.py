"""Layers of networks: Chebyshev convolutions, and maps between the spaces that signals live on.

`wavelets` is tested through the scores that `oriented_lift` makes with them.
"""
