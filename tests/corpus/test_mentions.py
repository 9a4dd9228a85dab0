"""How well the matcher agrees with answers that people have read; skipped where the corpus is absent."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from brandvane.catalogue_files.folder import read_brand_folder
from brandvane.cli.main import brandvane
from recorded import corpus_file

CATALOGUE = Path(__file__).parent / "catalogue"
# Floors of what is promised.
F1, COUNTS, OFFSETS, RANKS, NO_RANKS = 0.995, 0.99, 0.99, 0.95, 0.97


def test_the_catalogue_of_the_corpus_has_no_faults_and_46_brands() -> None:
    read = read_brand_folder(CATALOGUE)
    assert (read.faults, read.warnings, len(read.brands)) == ((), (), 46)


def test_mentions_counts_offsets_and_ranks_agree_with_people() -> None:
    files = ["--answers", str(corpus_file("answers.jsonl")), "--truth", str(corpus_file("truth.jsonl"))]
    done = CliRunner().invoke(brandvane, ["mentions", "score", "--catalogue", str(CATALOGUE), *files, "--json"])
    found = json.loads(done.output)
    assert found["pairs"] > 5_000
    assert found["mentioned"]["f1"] >= F1
    assert found["exact_counts"] >= COUNTS
    assert found["exact_first_offsets"] >= OFFSETS
    assert found["exact_ranks"] >= RANKS
    assert found["no_rank_where_none"] >= NO_RANKS
