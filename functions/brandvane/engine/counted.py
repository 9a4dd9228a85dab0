"""What did a pass's scorers count? The counts of all buckets of a run, added up."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from brandvane.engine.scored_objects import scores_key
from brandvane.mentions.tally import Tally, from_document
from brandvane.ports import BlobStore
from brandvane.task import BUCKETS


@dataclass(slots=True)
class Counted:
    """A pass's counts: the versions of the matcher that made them, and how many mentions they rest on.

    ``faults``: task id -> why its answer could not be read; ``applied`` and ``unfit`` are ids of corrections.
    """

    tally: Tally = field(default_factory=Tally)
    parsers: tuple[str, ...] = ()
    mentions: int = 0
    faults: dict[str, str] = field(default_factory=dict)
    applied: set[str] = field(default_factory=set)
    unfit: set[str] = field(default_factory=set)


async def counted(run_id: str, pass_no: int, blobs: BlobStore) -> Counted:
    """Read what a pass's scorers wrote.

    Raises:
        LookupError: a bucket's scores are gone.
        ValueError: they were written by newer code.
        Unavailable: the store refused.
    """
    whole, parsers = Counted(), set[str]()
    for bucket in range(BUCKETS):
        key = scores_key(run_id, pass_no, bucket)
        body = await blobs.get(key)
        if body is None:
            raise LookupError(f"run {run_id} says that bucket {bucket} is scored, but there is no object {key}")
        document = json.loads(body)
        whole.tally.merge(from_document(document))
        parsers.add(document["parser_version"])
        whole.mentions += document["mentions"]
        whole.faults.update({item["task_id"]: item["reason"] for item in document["unreadable"]})
        corrections = document.get("corrections", {})
        whole.applied.update(corrections.get("applied", ()))
        whole.unfit.update(corrections.get("unfit", ()))
    whole.parsers = tuple(sorted(parsers))
    return whole
