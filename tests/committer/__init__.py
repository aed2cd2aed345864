"""The global committer of a sink: the core alone, and jobs with one."""
