"""The site of the documentation: its pages, its generated reference, its gallery."""
