"""What the answers say of tasks: service times, rates, sizes, keys, state, and the machine."""
