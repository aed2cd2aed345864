"""Global committers, split enumerators and logs: their cores alone, and jobs with them."""
