"""The same run gives the same digest, whenever and wherever it is repeated."""
