"""How Sphinx makes a site of these pages: `sphinx-build docs docs/_build`, from the root."""

import sys
from pathlib import Path

from cheblienet_graphs import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "cheblienet"
version = release = __version__
copyright = "the cheblienet authors"  # noqa: A001, Sphinx' own name

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
    # Of _ext:
    "docstrings",
    "outside",
    "public",
]
exclude_patterns = ["_build", "gallery"]

autodoc_default_options = {"members": True}
autodoc_typehints_format = "short"
default_role = "code"
highlight_language = "none"  # of blocks that name no language, which are output
python_maximum_signature_line_length = 100

# A link that leads nowhere warns, also one from a docstring; -W makes errors of warnings.
nitpicky = True
nitpick_ignore_regex = [
    # Pages of other projects, which a build without a network can't ask for.
    ("py:.*", r"(collections|matplotlib|numpy|pathlib|scipy|torch|zarr)\..*"),
]
nitpick_ignore = [
    # What figures are made from, opened by one function and given to the others as it is.
    ("py:class", "cheblienet_graphs.measure.opened_graph.OpenedGraph"),
    # Arguments that only the packages themselves give.
    ("py:class", "cheblienet_graphs.samplings.lattice.Lattice"),
    ("py:class", "cheblienet_graphs.samplings.given_tables.PointArrays"),
    ("py:class", "cheblienet_graphs.samplings.sampling.Sampling"),
    ("py:class", "cheblienet_graphs.samplings.sampling.SamplingKind"),
    ("py:class", "cheblienet_graphs.weights.weighting.Weighting"),
    ("py:class", "cheblienet_graphs.assembly.level_plan.LevelPlan"),  # Plan says what it has
    ("py:class", "cheblienet_graphs.manifolds.manifold.Manifold"),
    ("py:class", "cheblienet_graphs.manifolds.base.Fiber"),
    ("py:class", "cheblienet_graphs.manifolds.base.Metric"),
    ("py:class", "cheblienet_graphs.store.facts.VersionFacts"),
    ("py:class", "cheblienet_graphs.store.folder.Folder"),
    ("py:class", "cheblienet_graphs.store.map_facts.MapFacts"),
    ("py:class", "cheblienet_graphs.csr.Csr"),
    ("py:class", "cheblienet_graphs.store.reader.LevelFolder"),
    ("py:class", "cheblienet_graphs.store.map_reader.MapArrays"),
    # matplotlib's, by its short name in the packages.
    ("py:class", "Axes"),
    # PyTorch Geometric's.
    ("py:class", "Data"),
    ("py:class", "HeteroData"),
]

# What GitHub renders, too: anchors of headings, and formulas between dollars or in a block of math.
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]
myst_fence_as_directive = ["math"]

# Each script is run by the build; one that fails, fails it.
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "_gallery",
    "reset_modules": ("matplotlib", "pictures.dress"),
    "abort_on_example_error": False,
    "only_warn_on_example_error": True,  # which -W makes an error of
    "download_all_examples": False,
    "show_memory": False,
}

html_theme = "furo"
html_title = f"cheblienet {__version__}"
