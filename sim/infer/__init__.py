"""What a recording of a running job says about it: pure functions from answers to a scenario."""
