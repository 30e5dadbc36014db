"""Lets the scripts of this folder import what all benchmarks share, which lies above it."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
