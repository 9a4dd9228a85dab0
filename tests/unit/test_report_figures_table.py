"""Every figure as a table, and a brand's figures by topic and language."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from brandvane.catalogue import Brand
from brandvane.cli.samples_command import samples
from brandvane.mentions.cell import Around, Cell, Seen
from brandvane.mentions.mention import Reading
from brandvane.mentions.roles import Role, Slice
from brandvane.mentions.statistics import wilson
from brandvane.mentions.tally import Tally
from brandvane.report.figures import Target
from brandvane.report.figures_table import figures_csv
from brandvane.report.parts import Parts
from brandvane.report.sources import SHOWN_MAX, sites
from brandvane.report.trend import ALL, Trend
from operator_desk import office
from unit.scored_samples import TARGET, answer, row

OOLONG = Brand("oolong", "Oolong", domains=("shop.oolong.example",))


def counted(*answers: Seen | None) -> Cell:
    """A cell with an answer each."""
    cell = Cell()
    for seen in answers:
        cell.count(seen, Around(voices=2, sources=4, own=1, rivals=1))
    return cell


def tally() -> Tally:
    """Oolong on three slices, and branded once."""
    made = Tally()
    made.groups = {
        (Role.UNBRANDED, TARGET, Slice("en", ("green", "hot"))): {"oolong": counted(Seen(2, rank=1, order=1), None)},
        (Role.UNBRANDED, TARGET, Slice("en", ("hot",))): {"oolong": counted(None)},
        (Role.UNBRANDED, TARGET, Slice("zh", ("=1+1",))): {"oolong": counted(Seen(1, rank=4, order=2))},
        (Role.BRANDED, TARGET, Slice("en", ())): {"oolong": counted(Seen(1, order=1))},
    }
    return made


def rows() -> list[dict[str, str]]:
    """The table as a spreadsheet program reads it."""
    body = figures_csv(tally(), [OOLONG, Brand("none", "None")], [Target(TARGET, "t0")], Trend())
    return list(csv.DictReader(io.StringIO(body.decode("utf-8-sig"), newline="")))


def test_a_row_has_the_figures_with_their_n_and_interval() -> None:
    found = next(
        r for r in rows() if (r["role"], r["target"], r["topic"], r["language"]) == ("unbranded", TARGET, "all", "all")
    )
    low, high = wilson(2, 4).low, wilson(2, 4).high
    assert (found["mentioned"], found["answers"], found["visibility"]) == ("2", "4", "0.500000")
    assert (found["visibility_low"], found["visibility_high"]) == (f"{low:.6f}", f"{high:.6f}")
    assert (found["share_of_voice"], found["voices"]) == ("0.250000", "8")
    assert (found["average_rank"], found["ranked"], found["average_order"]) == ("2.500", "2", "1.500")
    assert (found["citation_share"], found["sources"], found["own_sources"], found["competitor_sources"]) == (
        "0.250000",
        "16",
        "4",
        "4",
    )


def test_the_table_is_divided_by_topic_language_and_both() -> None:
    found = {
        (r["topic"], r["language"]): (r["mentioned"], r["answers"])
        for r in rows()
        if r["role"] == "unbranded" and r["target"] == "all"
    }
    assert found == {
        ("all", "all"): ("2", "4"),
        ("green", "all"): ("1", "2"),
        ("hot", "all"): ("1", "3"),
        ("'=1+1", "all"): ("1", "1"),
        ("all", "en"): ("1", "3"),
        ("all", "zh"): ("1", "1"),
        ("green", "en"): ("1", "2"),
        ("hot", "en"): ("1", "3"),
        ("'=1+1", "zh"): ("1", "1"),
    }


def test_branded_answers_have_rows_of_their_own() -> None:
    assert [(r["target"], r["mentioned"]) for r in rows() if r["role"] == "branded"] == [("all", "1"), (TARGET, "1")]


def test_a_division_into_one_part_is_left_out() -> None:
    assert Parts(tally(), Role.BRANDED).of(OOLONG) == ()
    assert Parts(tally(), Role.BRANDED).whole(OOLONG).of(ALL).mentioned == 1


def test_sites_are_told_with_their_owners_most_cited_first() -> None:
    made = Tally()
    made.add(row("x"), answer("x"), Reading(), {})
    made.targets[TARGET].cited.update({"oolong.example": 2, "press.example": 5})
    made.targets[TARGET].retrieved.update({"press.example": 1, "seen.example": 9})
    found = sites(made, [OOLONG], [Target(TARGET, "t0")])
    assert [(s.domain, s.owners, s.cited, s.retrieved) for s in found.shown] == [
        ("press.example", (), (5,), 1),
        ("oolong.example", ("Oolong",), (2,), 0),
        ("seen.example", (), (0,), 9),
    ]
    assert (found.total, found.cited) == (3, 7)


def test_of_many_sites_the_most_cited_are_shown_and_the_number_of_all_told() -> None:
    made = Tally()
    made.add(row("x"), answer("x"), Reading(), {})
    made.targets[TARGET].cited.update({f"s{number}.example": 100 - number for number in range(40)})
    found = sites(made, [], [Target(TARGET, "t0")])
    assert (len(found.shown), found.total, found.shown[0].domain) == (SHOWN_MAX, 40, "s0.example")


EXAMPLE = Path(__file__).parents[2] / "examples" / "en"


def test_the_samples_a_width_takes_are_told_for_each_brand() -> None:
    told = office().json(samples, "--catalogue", str(EXAMPLE), "--width", "10")
    assert told["answers_needed"] == 381
    brand = told["brands"][0]
    assert brand["samples_needed"] == -(-381 // brand["questions"])


def test_an_impossible_width_or_share_is_wrong_input() -> None:
    for words in (("--width", "0"), ("--width", "100"), ("--share", "101")):
        result = office().say(samples, "--catalogue", str(EXAMPLE), *words)
        assert result.exit_code == 2
        assert result.stderr.startswith(f"brandvane: {words[0]}: ")


def test_a_catalogue_with_faults_is_told_with_them(tmp_path: Path) -> None:
    result = office().say(samples, "--catalogue", str(tmp_path))
    assert result.exit_code == 2
    assert "brands" in result.stderr
