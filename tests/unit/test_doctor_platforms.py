"""``brandvane doctor --platforms``: what is said of each target's key, model, search, citations, clock and limits."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from brandvane.catalogue import PlatformSettings
from brandvane.cli.checks import Check, carried_out
from brandvane.cli.doctor_command import doctor
from brandvane.cli.doctor_platforms import Heard, PlatformDoctor, clock_checks, limit_checks, target_checks
from brandvane.platforms.errors import failure, transport_failure
from brandvane.policy import ErrorKind
from brandvane.ports import Deployed
from brandvane.simulation.memory_clock import ManualClock
from builders import NOW, catalogue, platform
from operator_desk import office

OK_BODY = {"model": "m1-2025", "choices": [{"message": {"content": "OK."}, "finish_reason": "stop"}]}
SENT = "Thu, 09 Oct 2025 08:53:20 GMT"  # NOW


def told(
    row: PlatformSettings,
    body: Any = None,
    status: int = 200,
    *,
    keys: dict[str, str] | None = None,
    deployed: dict[str, Deployed] | None = None,
    dry: bool = False,
    headers: dict[str, str] | None = None,
) -> list[str]:
    """The checks of one platform, as ``VERDICT name: sentence``; the platform replies ``body``."""
    reply = httpx.Response(status, json=OK_BODY if body is None else body, headers={"Date": SENT, **(headers or {})})
    mocked = httpx.MockTransport(lambda _request: reply)
    made = PlatformDoctor(
        [row],
        {row.name: "secret"} if keys is None else keys,
        deployed=deployed,
        clock=ManualClock(),
        dry=dry,
        http=lambda: httpx.AsyncClient(transport=mocked),
    )
    return lines(list(carried_out(made.looks())))


def lines(checks: list[Check]) -> list[str]:
    """As ``VERDICT name: sentence``."""
    return [f"{check.verdict} {check.name}: {check.says}" for check in checks]


def test_a_platform_that_answers_is_told_from_key_to_limits() -> None:
    assert told(platform(rate=2.0, in_flight=20)) == [
        "OK openai: key: there is one",
        "OK openai/m1: model: answered as m1-2025 in 0.0 s (ok)",
        "OK openai/m1: search: off",
        "OK openai: clock: agrees with the platform's",
        "OK openai: limits: 2 calls/s, 20 in flight",
    ]


def test_a_search_is_told_by_what_it_found() -> None:
    note = {"type": "url_citation", "url_citation": {"url": "https://a.example", "title": "A"}}
    message = {"content": "Acme.", "annotations": [note]}
    body = {
        "choices": [{"message": message, "finish_reason": "stop"}],
        "search_results": [{"url": "https://b.example"}],
    }
    row = platform(parameters={"search": True}, search_body={"web_search_options": {}})
    assert told(row, body)[2:4] == [
        "OK openai/m1: search: on, 0 queries told",
        "OK openai/m1: citations: 1 cited, 1 retrieved",
    ]
    assert told(row)[2] == "WARN openai/m1: search: on, and nothing shows that it ran"


def test_a_vanished_model_and_a_refused_key_fail() -> None:
    gone = {"error": {"message": "No.", "code": "model_not_found"}}
    assert told(platform(), gone, 404)[1] == "FAIL openai/m1: model: model_gone: HTTP 404: model_not_found"
    refused = {"error": {"message": "No.", "code": "invalid_api_key"}}
    assert told(platform(), refused, 401)[1] == "FAIL openai/m1: model: auth_error: HTTP 401: invalid_api_key"


def test_what_may_pass_by_itself_is_a_warning() -> None:
    assert told(platform(), {}, 503)[1].startswith("WARN openai/m1: model: server_error")


@pytest.mark.parametrize("error", [httpx.ConnectError("refused"), httpx.ConnectTimeout("slow")])
def test_a_platform_that_cannot_be_reached_fails(error: Exception) -> None:
    (check,) = target_checks(platform(), "m1", transport_failure(error))
    assert lines([check]) == [f"FAIL openai/m1: model: timeout: connection lost: {type(error).__name__}"]
    assert check.remedy.startswith("look at base_url in monitor.yaml (http://127.0.0.1:9/v1)")


def test_a_connection_that_broke_off_is_a_warning() -> None:
    (line,) = lines(target_checks(platform(), "m1", transport_failure(httpx.ReadError(""))))
    assert line == "WARN openai/m1: model: timeout: connection lost: ReadError"


def test_a_key_from_a_file_is_mended_in_that_file() -> None:
    refused = failure(ErrorKind.AUTH_ERROR, "HTTP 401: invalid_api_key", status=401)
    (stored,) = target_checks(platform(), "m1", refused)
    (given,) = target_checks(platform(), "m1", refused, Path("my.env"))
    assert stored.remedy == "set a key that is good: brandvane keys set openai"
    assert given.remedy == "write a key that is good to my.env: BRANDVANE_KEY_OPENAI=…"


def test_without_a_key_nobody_is_asked() -> None:
    assert told(platform(), keys={}) == [
        "FAIL openai: key: there is none",
        "OK openai: limits: 10 calls/s, 10 in flight",
    ]


def test_a_platform_that_wants_no_key_is_asked_without_one() -> None:
    assert told(platform(key_header="none"), keys={})[:2] == [
        "OK openai: key: it wants none",
        "OK openai/m1: model: answered as m1-2025 in 0.0 s (ok)",
    ]


def test_dry_looks_at_keys_and_limits_only() -> None:
    assert told(platform(rate=2.0), dry=True) == [
        "OK openai: key: there is one",
        "OK openai: limits: 2 calls/s, 10 in flight",
    ]


def test_limits_are_compared_with_worker_and_platform() -> None:
    row = platform(rate=10.0, in_flight=20)
    assert (
        told(row, dry=True, deployed={})[-1] == "FAIL openai: limits: 10 calls/s, 20 in flight; no worker is deployed"
    )
    large = {"openai": Deployed("openai", 5, 10, 60)}
    assert told(row, dry=True, deployed=large)[-1].endswith("20 in flight; its worker can hold 50 calls open")
    heard = Heard({"x-ratelimit-limit-requests": "500"}, NOW)
    (check,) = limit_checks(row, heard)
    assert check.says == "limits: the platform says 500 requests a minute, the monitor asks up to 600"
    assert check.remedy == "set rate: 8.33 in monitor.yaml"


@pytest.mark.parametrize(
    ("protocol", "off", "line"),
    [
        ("openai_chat", 3.0, "OK openai: clock: agrees with the platform's"),
        ("openai_chat", 400.0, "WARN openai: clock: 400 s ahead of the platform's"),
        ("tencent_tc3", -400.0, "FAIL openai: clock: 400 s behind the platform's"),
    ],
)
def test_the_clock_matters_most_where_calls_are_signed(protocol: str, off: float, line: str) -> None:
    assert lines(clock_checks(platform(protocol=protocol), Heard({"date": SENT}, NOW + off))) == [line]


def test_calls_and_cost_are_known_before_anybody_is_asked() -> None:
    row = platform(models=("m1", "m2"), price_input=2.0, price_output=10.0)
    doctor_of = PlatformDoctor([row], {"openai": "k"}, deployed=None, clock=ManualClock())
    assert doctor_of.calls == 2
    assert doctor_of.cost_usd == pytest.approx(2 * (100 * 2.0 + 500 * 10.0) / 1e6)


def _folder(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "brands.yaml").write_text("brands: [{id: acme, name: Acme}]\n", encoding="utf-8")
    (tmp_path / "questions.yaml").write_text("questions: [{id: q, text: Who?, brands: all}]\n", encoding="utf-8")
    (tmp_path / "monitor.yaml").write_text(
        "platforms: [openai, kimi]\nschedules: [{id: d, window: 01:00-02:00, deadline: 03:00}]\n", encoding="utf-8"
    )
    keys = tmp_path / "keys.env"
    keys.write_text("BRANDVANE_KEY_OPENAI=sk-one\n", encoding="utf-8")
    return tmp_path, keys


def test_a_folder_and_a_file_of_keys_are_looked_at_without_a_stack(tmp_path: Path) -> None:
    folder, keys = _folder(tmp_path)
    words = ["--platforms", "--catalogue", str(folder), "--dotenv", str(keys), "--dry", "--json"]
    result = CliRunner().invoke(doctor, words)
    assert [(row["check"], row["verdict"]) for row in json.loads(result.stdout)["checks"]] == [
        ("openai", "OK"),
        ("openai", "OK"),
        ("kimi", "FAIL"),
        ("kimi", "OK"),
    ]
    assert result.exit_code == 1
    assert "sk-one" not in result.output


def test_nobody_is_asked_without_a_yes(tmp_path: Path) -> None:
    folder, keys = _folder(tmp_path)
    result = CliRunner().invoke(doctor, ["--platforms", "--catalogue", str(folder), "--dotenv", str(keys)])
    assert result.stdout.startswith("1 call, about $")
    assert result.exit_code == 2


def test_options_of_the_platforms_go_with_them() -> None:
    result = CliRunner().invoke(doctor, ["--dry"])
    assert result.exit_code == 2
    assert "go with --platforms" in str(result.exception) + result.output


def test_keys_and_workers_of_a_stack_are_looked_at() -> None:
    here = office(catalogue(platforms=(platform("openai", in_flight=20), platform("kimi"))))
    here.keys.values["openai"] = "sk-one\n"
    result = here.say(doctor, "--platforms", "--dry", "--json")
    assert [(row["check"], row["says"]) for row in json.loads(result.stdout)["checks"]] == [
        ("openai", "key: there is one"),
        ("openai", "limits: 10 calls/s, 20 in flight"),
        ("kimi", "key: there is none"),
        ("kimi", "limits: 10 calls/s, 10 in flight"),
    ]


def test_an_unknown_platform_is_told_with_its_neighbours() -> None:
    here = office(catalogue(platforms=(platform("openai"), platform("kimi"))))
    result = here.say(doctor, "--platforms", "--platform", "openia", "--dry")
    assert result.exit_code == 2
    assert "--platform: the monitor has no 'openia'; did you mean openai?" in result.stderr


def test_a_folder_is_looked_at_dry_where_no_region_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    folder, _ = _folder(tmp_path)
    result = CliRunner().invoke(doctor, ["--platforms", "--catalogue", str(folder), "--dry"], standalone_mode=False)
    assert "limits: " in result.output
    assert (result.exit_code, str(result.exception)) == (
        1,
        "2 checks failed",
    )  # there is no key, and nothing else is wrong
