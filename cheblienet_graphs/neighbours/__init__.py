"""The search for neighbours: exact engines behind one interface, all with the same result."""
