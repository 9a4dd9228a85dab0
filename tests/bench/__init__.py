"""How fast and how large is Brandvane on this machine? ``python -m tests.bench``; see docs/benchmarks.md."""
