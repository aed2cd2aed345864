"""How pictures of one run are drawn: its barriers, the lives of its tasks."""
