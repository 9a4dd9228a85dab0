"""``brandvane estimate``: calls, hours and dollars of a day, worked out by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from brandvane.catalogue import Catalogue
from brandvane.cli.aws_context import AwsContext
from brandvane.cli.aws_cost import cost_lines, month_usd
from brandvane.cli.aws_usage import RunLoad, Share, Usage, held_s, minutes_usage, run_usage
from brandvane.cli.day_plan import day_plan
from brandvane.cli.estimate_command import estimate
from brandvane.cli.estimate_view import estimate_document, estimate_lines
from brandvane.cli.price_list import price_list, read
from brandvane.ports import Deployed
from builders import NOW, catalogue, platform, schedule
from unit.catalogue_samples import SAMPLE

ROUND = read(
    """
region = "nowhere-1"
compiled = "2026-11-29"
note = "Round prices."
"""
    + "".join(
        f'[prices.{name}]\nusd = 1.0\nper = 1000\nunit = "units"\nsource = "https://prices.example"\ndated = "2026-11"\n'
        for name in price_list().prices
    )
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The sample catalogue on disk."""
    for name, text in SAMPLE.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def _say(*words: object) -> Result:
    return CliRunner().invoke(estimate, [str(word) for word in words])


def _given(**fields: object) -> Catalogue:
    return catalogue(questions=10, platforms=(platform("openai", **fields),), expected_hold_s=40.0)


def test_hours_follow_from_rate_and_slots() -> None:
    # Nine tenths of min(10 calls/s, 10 slots ÷ 40 s = 0.25): 0.225 calls/s, so 10 calls take 44.4 s.
    fit = day_plan(_given(), NOW).runs[0].platforms[0]

    assert (fit.calls, fit.slots, fit.late_by) == (10, 10, 0.0)
    assert fit.hours == pytest.approx(10 / 0.225 / 3600)
    # Four hours for ten calls: one every 24 minutes, the last at 3.6 h of the window, and 40 s for its answer.
    assert fit.rate == pytest.approx(1 / 1440)
    assert fit.last == pytest.approx(day_plan(_given(), NOW).runs[0].times.start + 9 * 1440 + 40)


def test_a_plan_that_does_not_fit_says_by_how_much() -> None:
    given = catalogue(
        questions=1000,
        platforms=(platform("openai", in_flight=2),),
        schedules=(schedule(end="08:30", deadline="09:00"),),
        expected_hold_s=40.0,
    )

    # 0.045 calls/s: the last of 1,000 begins 999 ÷ 0.045 = 22,200 s after 08:00, ends 40 s later; the deadline is after 3,600 s.
    assert day_plan(given, NOW).runs[0].late_by == pytest.approx(22_200 + 40 - 3_600)


def test_the_workers_that_are_deployed_can_be_reckoned_with() -> None:
    plan = day_plan(_given(), NOW, {"openai": Deployed("openai", 2, 2, 60)})

    assert plan.runs[0].platforms[0].slots == 4
    nobody = day_plan(_given(), NOW, {}).runs[0].platforms[0]
    assert (nobody.slots, math.isinf(nobody.late_by)) == (0, True)


def test_a_day_that_costs_more_than_its_budget_says_where_it_stops() -> None:
    # Ten calls of 800 tokens at $1,000 a million: $0.80 each, $8.00 a day. $2.00 pay for two and a half.
    plan = day_plan(_given(day_budget_usd=2.0, price_output=1000.0), NOW)

    (over,) = plan.over_budget
    assert (over.platform, over.budget_usd, over.calls, over.stops_at) == ("openai", 2.0, 10, 3)
    assert over.usd == pytest.approx(8.0, abs=0.01)
    prices = price_list()
    shown = estimate_lines(plan, cost_lines(plan.usage, 1, plan.busy, prices), prices)
    told = "openai: $8.00 a day is more than its day_budget_usd of $2.00; it stops at about 3 of 10 calls"
    assert told in shown
    document = estimate_document(plan, (), prices)
    assert document["over_budget"]["openai"]["stops_at_calls"] == 3


def test_a_day_within_its_budget_is_not_remarked_on() -> None:
    assert day_plan(_given(day_budget_usd=8.01, price_output=1000.0), NOW).over_budget == ()


def test_calls_beyond_a_days_budget_of_calls_are_counted() -> None:
    assert day_plan(_given(day_calls=4), NOW).runs[0].platforms[0].beyond_budget == 6


def test_what_falls_due_in_one_second_is_a_batch() -> None:
    assert Share(tasks=100, rate=0.2, batch=10).batches == 100
    assert Share(tasks=100, rate=5.0, batch=10).batches == 20
    # 25 a second are three batches of 8.33.
    assert Share(tasks=100, rate=25.0, batch=10).batches == pytest.approx(12)
    assert Share(tasks=0, rate=5.0, batch=10).batches == 0


def test_a_happy_life_writes_eighteen_units_and_more_for_the_answer() -> None:
    load = RunLoad(platforms={"openai": Share(tasks=1000, rate=1.0, batch=1)}, minutes=0.0, hold_s=30.0)

    usage = run_usage(load)

    # 18 units, two more for each of the three writes that carry 2,400 bytes instead of under 1 KB;
    # for each batch (of one) a slot and a stat.
    assert usage.write_units == pytest.approx(1000 * (18 + 3 * 2 + 2), rel=0.01)
    assert usage.requests["dynamodb PutItem"] == pytest.approx(1000 * 3, rel=0.01)
    assert usage.requests["dynamodb UpdateItem"] == pytest.approx(1000 * 6, rel=0.01)
    assert usage.gb_s["worker"] == 1000 * 30 * 25 / 40 * 0.25


@pytest.mark.parametrize(("size", "seconds"), [(1, 25.0), (10, 40.0), (5, 35.5)])
def test_a_batch_takes_as_long_as_its_slowest_call(size: int, seconds: float) -> None:
    assert held_s(40.0, size) == pytest.approx(seconds, abs=0.05)


def test_a_day_without_runs_is_ticks_sweeps_and_polls() -> None:
    usage = minutes_usage(3, 1440)

    assert (usage.invocations["dispatcher"], usage.invocations["scanner"]) == (1440, 2880)
    assert usage.requests["sqs idle ReceiveMessage"] == 6 * 15 * 1440
    assert usage.write_units == 2 * (1440 + 2880)  # two leases, taken and given back


def test_every_line_is_number_times_price() -> None:
    day = Usage(write_units=2_000.0)
    day.requests["s3 PutObject"] = 500

    lines = {(line.service, line.what): line.usd for line in cost_lines(day, 6, 0.5, ROUND)}

    assert lines["DynamoDB", "write units"] == 60.0  # 2,000 × 30 days at a dollar for a thousand
    assert lines["S3", "PUT requests"] == 15.0
    assert lines["CloudWatch", "dashboards"] == 0.001
    # Six platforms: 13 metrics each and 10 of the stack, for half of the time 5 each and 2; 6 alarms each and 11; 6 composites.
    assert lines["CloudWatch", "metrics"] == pytest.approx(0.104)
    assert lines["CloudWatch", "alarms"] == pytest.approx(0.047)
    assert month_usd(cost_lines(Usage(), 6, 0.5, ROUND)) == pytest.approx(0.104 + 0.047 + 0.006 + 0.001)


def test_what_is_kept_for_400_days_is_charged_in_table_recovery_and_bucket() -> None:
    day = Usage(kept_bytes=1024**3, object_bytes=1024**3 / 4)

    lines = {(line.service, line.what): (line.number, line.usd) for line in cost_lines(day, 0, 0.0, ROUND)}

    # A gigabyte of rows a day is 400 after 400 days, at a dollar for a thousand; a quarter of that in the bucket.
    assert lines["DynamoDB", "GB stored, 400 days"] == pytest.approx((400, 0.4))
    assert lines["DynamoDB", "GB, point-in-time recovery"] == pytest.approx((400, 0.4))
    assert lines["S3", "GB stored, 400 days"] == pytest.approx((100, 0.1))


def test_30_000_answers_a_day_cost_six_dollars_a_month_to_restore_and_one_to_keep_in_the_bucket() -> None:
    load = RunLoad(platforms={"openai": Share(tasks=30_000, rate=1.0, batch=1)}, minutes=0.0, hold_s=30.0)

    lines = {(line.service, line.what): line.usd for line in cost_lines(run_usage(load), 1, 0.0, price_list())}

    # 800 bytes of a record, 1,600 of its answer, 160 in the index: 30,000 × 2,560 × 400 days ÷ 2^30 = 28.61 GB at $0.20.
    assert lines["DynamoDB", "GB, point-in-time recovery"] == pytest.approx(5.722, abs=0.001)
    # 30,000 × 3,000 bytes × 400 days ÷ 2^30 = 33.53 GB at $0.023.
    assert lines["S3", "GB stored, 400 days"] == pytest.approx(0.771, abs=0.001)


def test_every_price_of_the_list_is_used() -> None:
    assert {line.price for line in cost_lines(Usage(), 1, 0.0, price_list())} == set(price_list().prices)


def test_every_price_has_a_source_and_a_date() -> None:
    prices = price_list()

    assert prices.region == "us-east-1"
    assert all(price.source.startswith("https://") and price.usd > 0 for price in prices.prices.values())
    assert all(price.dated <= prices.compiled for price in prices.prices.values())


def test_30_000_calls_in_eight_hours_are_30_000_invocations() -> None:
    given = catalogue(
        questions=10_000,
        platforms=tuple(platform(name, rate=10.0, in_flight=200) for name in ("a", "b", "c")),
        schedules=(schedule(start="00:00", end="08:00", deadline="10:00"),),
    )
    plan = day_plan(given, NOW)
    lines = {(line.service, line.what): line for line in cost_lines(plan.usage, 3, plan.busy, price_list())}

    assert plan.calls == 30_000
    # 0.35 calls/s: each falls due in a second of its own, so an invocation makes one call: 30,000 × 25 s × 0.25 GB;
    # 4,320 ticks and sweeps of 2 s × 0.25 GB are 2,160.
    assert lines["Lambda", "GB-seconds"].number == pytest.approx(187_500 + 2_160, rel=0.01)
    assert lines["DynamoDB", "write units"].number == pytest.approx(30_000 * 26, rel=0.03)


def test_the_command_shows_hours_models_aws_and_sources(folder: Path) -> None:
    result = _say(folder)

    assert result.exit_code == 0
    text = result.stdout
    assert text.splitlines()[1].split() == ["platform", "calls", "calls/s", "slots", "needs", "through", "fits"]
    assert "model  " in text
    assert "DynamoDB    write units" in text
    assert "AWS prices: us-east-1, list of 2026-11-29." in text
    assert "https://aws.amazon.com/lambda/pricing/ (2026-06)" in text


def test_the_estimate_fits_into_80_columns_but_for_the_addresses_of_its_sources(folder: Path) -> None:
    lines = _say(folder).stdout.splitlines()

    assert [line for line in lines if len(line) > 80 and "https://" not in line] == []


def test_as_json_it_is_one_document_whose_lines_add_up(folder: Path) -> None:
    told = json.loads(_say(folder, "--json").stdout)

    assert told["fits"] is True
    assert (
        told["calls"] == sum(run["calls"] for run in told["runs"]) == sum(m["calls"] for m in told["models"].values())
    )
    assert told["aws_usd_a_month"] == pytest.approx(sum(line["usd_a_month"] for line in told["aws"]), abs=0.01)
    assert told["prices"]["list"]["dynamodb_write"]["usd"] == 0.625


def test_nobody_is_asked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("AWS was asked")

    monkeypatch.setattr(AwsContext, "client", never)

    assert _say(folder, "--profile", "none", "--region", "nowhere").exit_code == 0


def test_a_plan_that_does_not_fit_is_exit_code_1_with_the_whole_estimate(folder: Path) -> None:
    monitor = (folder / "monitor.yaml").read_text(encoding="utf-8")
    (folder / "monitor.yaml").write_text(f"{monitor}\nexpected_hold_s: 600\nsamples: 100\n", encoding="utf-8")

    result = _say(folder)

    assert result.exit_code == 1, result.output
    assert "too late" in result.stdout
    assert "would not be through before the deadline" in result.stderr


def test_a_catalogue_with_faults_is_wrong_input(tmp_path: Path) -> None:
    result = _say(tmp_path / "none")

    assert result.exit_code == 2
    assert "there is no such folder" in result.stderr
