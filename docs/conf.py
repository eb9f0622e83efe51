"""Sphinx settings."""

import os

os.environ.setdefault("GLOG_v", "3")

import mindeval

project = "mindeval"
author = "the mindeval authors"
copyright = "2026, the mindeval authors"
version = release = mindeval.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax", "myst_parser"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"mindeval {version}"

napoleon_numpy_docstring = False
napoleon_custom_sections = ["Supported Platforms"]
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
myst_heading_anchors = 3
