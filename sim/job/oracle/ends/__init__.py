"""What must hold of the ends of tasks, and of what checkpoints say of those that have finished."""
