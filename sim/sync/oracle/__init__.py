"""What must hold of a sync, held against the account of every record."""
