"""The world of a job."""
