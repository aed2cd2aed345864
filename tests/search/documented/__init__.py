"""Commands that docs show: they run, and have the outcome that the page promises."""
