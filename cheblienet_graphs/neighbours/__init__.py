"""Which vertices are neighbours: exact engines behind one interface, one result."""
