"""What coordinator and tasks send to each other, as the oracle of a job follows it."""
