"""What the neighbours have in common."""
