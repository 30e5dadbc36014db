"""The command line `clg`: a thin skin over cheblienet_graphs."""
