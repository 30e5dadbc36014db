"""What users bring along: masks, regions and points, from files or from arrays."""
