"""How pictures of one run are drawn: its timeline, its barriers, the lives of its tasks."""
