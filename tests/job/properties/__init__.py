"""Each property of jobs can fail, and stands for something."""
