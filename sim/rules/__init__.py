"""What judges the cores of a run besides its properties: contracts, our cores, duties of hosts."""
