"""Where are a run's corrections kept? One object a revision, each the whole list so far; the run item names the last one.

A revision is never written over, so the list can be read as it was at any time; two people at once cannot lose each other's.
"""

from __future__ import annotations

import json

from brandvane.engine.json_bytes import json_bytes
from brandvane.mentions.corrections import Correction, from_document, to_document
from brandvane.ports import BlobStore
from brandvane.run import Run


def corrections_key(run_id: str, revision: int, correction_id: str) -> str:
    """S3 key of a revision; the id of its newest correction keeps two that are written at once apart."""
    return f"corrections/{run_id}/{revision:05d}-{correction_id}.json"


async def corrections_of(run: Run, blobs: BlobStore) -> tuple[Correction, ...]:
    """All corrections of a run, those taken back included, oldest first.

    Raises:
        LookupError: the list that the run names is gone.
        ValueError: it was written by newer code.
        Unavailable: the store refused.
    """
    if not run.corrections_key:
        return ()
    body = await blobs.get(run.corrections_key)
    if body is None:
        raise LookupError(f"run {run.run_id} has corrections, but there is no object {run.corrections_key}")
    return from_document(json.loads(body))


async def keep(run: Run, listed: tuple[Correction, ...], blobs: BlobStore) -> str:
    """Write the next revision, whose last correction is new; its key, for the run item to name."""
    revision = len(listed)
    key = corrections_key(run.run_id, revision, listed[-1].id)
    await blobs.put(key, json_bytes(to_document(revision, listed)), "application/json")
    return key
