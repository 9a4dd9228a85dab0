"""How is a document written so that equal ones are equal bytes?"""

from __future__ import annotations

import json
from typing import Any


def json_bytes(document: Any) -> bytes:
    """One spelling of a document: sorted keys, no spaces, UTF-8; a lone surrogate becomes the JSON escape it came as."""
    text = json.dumps(document, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return text.encode("utf-8", "backslashreplace")
