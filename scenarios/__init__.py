"""What a run is made of, as frozen data: the specification, its loader and the scenario library."""
