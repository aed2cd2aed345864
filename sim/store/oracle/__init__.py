"""What must hold of a checkpoint store, held against what was really written."""
