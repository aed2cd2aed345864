"""Each property of jobs can fail, and represents something."""
