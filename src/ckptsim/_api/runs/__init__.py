"""Runs: results, text, figures, and the verbs that make them."""
