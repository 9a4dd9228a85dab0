"""Brandvane: serverless brand-visibility monitoring for AI answers."""

__version__ = "0.1.0"
