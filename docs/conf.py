"""The site: Sphinx with MyST pages, executed notebooks and the reference of the Python interface."""

from __future__ import annotations

import factormech

project = "factormech"
author = "The factormech authors"
copyright = "the factormech authors"
version = release = factormech.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
]
templates_path = ["_templates"]
exclude_patterns = ["_build"]
html_theme = "pydata_sphinx_theme"
html_title = "factormech"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "navigation_depth": 2,
    "show_nav_level": 1,
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
}

# Pages: headings have anchors as on the forges; the notebooks are run in every build, and an error ends it.
myst_heading_anchors = 3
myst_enable_extensions = ["deflist", "colon_fence"]
nb_execution_mode = "force"  # a cache knows nothing of changes of the package
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True

# The reference: the public names, from their docstrings.
autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
