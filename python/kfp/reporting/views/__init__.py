"""A view for each kind of subject."""
