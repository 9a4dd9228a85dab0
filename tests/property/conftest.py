"""How hard do the property tests look? ``HYPOTHESIS_PROFILE=soak`` looks twenty times as long; each failure prints what replays it."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("quick", deadline=None, derandomize=False, print_blob=True, max_examples=100)
settings.register_profile("soak", settings.get_profile("quick"), max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))
