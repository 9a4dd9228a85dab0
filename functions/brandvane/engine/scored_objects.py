"""Under which keys do scorers write what they found? Apart from the scorer, whose matcher its readers do not need."""

from __future__ import annotations


def mentions_key(run_id: str, pass_no: int, bucket: int) -> str:
    """S3 key of a bucket's mentions as lines of JSON, packed."""
    return f"mentions/{run_id}/pass-{pass_no}/bucket-{bucket:02d}.jsonl.gz"


def mentions_table_key(run_id: str, pass_no: int, bucket: int) -> str:
    """S3 key of a bucket's mentions as CSV, packed."""
    return f"mentions/{run_id}/pass-{pass_no}/bucket-{bucket:02d}.csv.gz"


def scores_key(run_id: str, pass_no: int, bucket: int) -> str:
    """S3 key of a bucket's counts."""
    return f"scores/{run_id}/pass-{pass_no}/bucket-{bucket:02d}.json"
