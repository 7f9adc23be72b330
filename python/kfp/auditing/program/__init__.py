"""The compiler's intermediate code of a candidate, read as data; every place in it leads back to the user's text."""
