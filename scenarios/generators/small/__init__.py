"""Small random jobs, each kind made for something to meet something else."""
