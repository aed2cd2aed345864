"""Tests of the end of a task: lifecycle core, its tables, the plan with finished tasks."""
