"""Named properties of each link, checked against the world's own account."""
