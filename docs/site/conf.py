"""How Sphinx builds the site. `python -m tests.site` lays out its pages first."""

project = "ckptsim"
extensions = ["myst_parser"]
myst_heading_anchors = 4
myst_enable_extensions = ["html_image"]
root_doc = "index"
nitpicky = True
html_theme = "furo"
html_title = "ckptsim"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_use_index = False
html_show_copyright = False
html_show_sphinx = False
# Code has no colours of a language where it is the output of a command.
highlight_language = "text"
pygments_style = "friendly"
pygments_dark_style = "monokai"
