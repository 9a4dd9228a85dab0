"""A deployment in the middle of a run."""
