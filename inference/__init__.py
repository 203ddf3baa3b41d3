"""One page in, one reading out. Knows no database, no settings and nothing of `review`."""
