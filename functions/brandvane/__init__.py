"""Brandvane: serverless brand-visibility monitoring for AI answers."""

import sys

__version__ = "0.1.0"

if sys.version_info < (3, 11):  # noqa: UP036 - pip checks this too, a copied folder does not
    raise SystemExit(f"Brandvane needs Python 3.11 or newer; this is {sys.version_info[0]}.{sys.version_info[1]}.")
