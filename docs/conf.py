"""How Sphinx makes a site of these pages: `sphinx-build docs docs/_build`, from the root."""

import sys
from pathlib import Path

from cheblienet_graphs import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "cheblienet"
version = release = __version__
copyright = "the cheblienet authors"  # noqa: A001, Sphinx' own name

extensions = ["myst_parser", "outside", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "gallery"]

# A link that leads nowhere warns, also one from a docstring; -W makes errors of warnings.
nitpicky = True

# What GitHub renders, too: anchors of headings, and formulas between dollars or in a block of math.
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
myst_fence_as_directive = ["math"]

html_theme = "furo"
html_title = f"cheblienet {__version__}"
