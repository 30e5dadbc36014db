"""Gradients: first derivatives along the directions of a frame, as sparse matrices.

On the plane, in space and on the sphere the frame is that of the coordinates; on SE(2) and SO(3) it
is the left-invariant one. `lattice` and `searched` give rows of points or of vertices, `fields` the
rows of all fields and their norms.
"""
