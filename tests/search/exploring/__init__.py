"""How exploring draws, and the runs with which it begins."""
