"""Generated and mutated bodies for every reader: ``python -m tests.fuzz --number 1000000``."""
