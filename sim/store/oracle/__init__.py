"""What must hold of a checkpoint store, held against everything that was really written."""
