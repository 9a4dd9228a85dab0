"""Which faults does a monitor file have?"""

from __future__ import annotations

import pytest

from brandvane.catalogue import Schedule
from unit.catalogue_samples import MONITOR, good, monitor, only, place

SCHEDULES = "schedules: [{id: daily, window: 02:00-04:00, deadline: 06:00}]\n"
PLATFORMS = "platforms: [openai]\n"


def _with(platform: str) -> str:
    """A monitor whose only platform is openai with these settings, one a row."""
    rows = "".join(f"    {row}\n" for row in platform.split("\n"))
    return f"platforms:\n  openai:\n{rows}{SCHEDULES}"


def _daily(window: str, deadline: str, more: str = "") -> str:
    return f"{PLATFORMS}schedules:\n  - id: daily\n    window: {window}\n    deadline: {deadline}\n{more}"


def test_a_monitor_is_read_with_its_defaults() -> None:
    found = good(monitor(MONITOR)).monitor
    assert found.platform_names == ("openai", "hunyuan")
    assert found.schedules == (Schedule("daily", "02:00", "04:00", "06:00", "Europe/Berlin"),)
    assert (found.samples, found.locale, found.expected_hold_s, found.day_budget_usd, found.time_zone) == (
        1,
        "",
        40.0,
        None,
        "UTC",
    )


def test_a_monitor_is_read_with_all_its_fields() -> None:
    text = f"""\
{PLATFORMS}samples: 3
locale: en-GB
time_zone: Asia/Shanghai
expected_hold_s: 12.5
day_budget_usd: 9.5
schedules:
  - {{id: core, brands: [nike], priority: high, window: 22:00–01:30, deadline: 6:00}}
  - {{id: rest, brands: all, window: 02:00 - 03:00, deadline: 08:00, time_zone: Europe/Berlin}}
"""
    found = good(monitor(text)).monitor
    assert found.schedules == (
        Schedule("core", "22:00", "01:30", "06:00", "Asia/Shanghai", ("nike",), "high"),
        Schedule("rest", "02:00", "03:00", "08:00", "Europe/Berlin"),
    )
    assert (found.samples, found.locale, found.expected_hold_s, found.day_budget_usd) == (3, "en-GB", 12.5, 9.5)


def test_overrides_go_before_platforms_toml_and_say_so() -> None:
    found = good(monitor(_with("models: [a, b]\nrate: 3\nbase_url: http://127.0.0.1:8001/v1/"))).monitor.platform(
        "openai"
    )
    assert (found.models, found.rate, found.base_url) == (("a", "b"), 3.0, "http://127.0.0.1:8001/v1")
    assert (found.origins["rate"], found.origins["in_flight"]) == ("monitor.yaml", "platforms.toml")


def test_parameters_are_merged_key_by_key_and_null_removes_one() -> None:
    found = good(monitor(_with("parameters: {temperature: 0.5, reasoning_effort: null}"))).monitor.platform("openai")
    assert found.parameters == {"max_completion_tokens": 4096, "temperature": 0.5}
    assert found.origins["parameters.temperature"] == "monitor.yaml"


def test_an_unknown_platform_is_a_fault_that_guesses() -> None:
    fault = only(monitor(f"platforms:\n  openia:\n{SCHEDULES}"))
    assert (*place(fault), fault.remedy) == ("monitor.yaml", 2, "platforms", "openia", "Did you mean 'openai'")


def test_a_protocol_that_is_not_implemented_is_a_fault() -> None:
    fault = only(monitor(f"platforms:\n  openai:\n    protocol: openai_response\n{SCHEDULES}"))
    assert place(fault) == ("monitor.yaml", 3, "platforms.openai.protocol", "openai_response")
    assert fault.message == "not a protocol that this release speaks"
    assert fault.remedy == "Did you mean 'openai_responses'"


def test_a_model_that_is_not_known_of_its_platform_is_a_fault_unless_its_price_is_stated() -> None:
    fault = only(monitor(_with("models: [gpt-5.6-terra, gpt-5.6-tera]")))
    assert place(fault) == ("monitor.yaml", 3, "platforms.openai.models", "gpt-5.6-tera")
    assert fault.remedy.startswith("Did you mean 'gpt-5.6-terra'; to ask it all the same")
    priced = good(monitor(_with("models: gpt-9\nprice_input: 1\nprice_output: 2"))).monitor.platform("openai")
    assert (priced.models, priced.price_of("gpt-9")) == (("gpt-9",), (1.0, 2.0))


OWN = """platforms:
  router:
    protocol: openai_chat
    base_url: https://openrouter.ai/api/v1
    models: acme/one
"""


def test_a_platform_of_ones_own_is_a_row_of_the_monitor() -> None:
    (platform,) = good(monitor(f"{OWN}    headers: {{X-Title: Brandvane}}\n{SCHEDULES}")).monitor.platforms
    assert (platform.name, platform.base_url, platform.models) == (
        "router",
        "https://openrouter.ai/api/v1",
        ("acme/one",),
    )
    assert platform.origins["base_url"] == "monitor.yaml"


def test_a_platform_of_ones_own_must_say_how_it_is_reached() -> None:
    fault = only(monitor(f"platforms:\n  router:\n    protocol: openai_chat\n{SCHEDULES}"))
    assert (fault.message, fault.value) == ("unknown platform", "router")
    assert "give it base_url, models here" in fault.remedy


def test_a_search_that_the_protocol_has_no_words_for_needs_them() -> None:
    fault = only(monitor(f"{OWN}    parameters: {{search: true}}\n{SCHEDULES}"))
    assert (fault.field, fault.value) == ("platforms.router.parameters", "search")
    told = f"{OWN}    parameters: {{search: true}}\n    search_body: {{plugins: [web]}}\n{SCHEDULES}"
    assert good(monitor(told)).monitor.platforms[0].search_body == {"plugins": ["web"]}


def test_a_platform_named_twice_is_a_fault() -> None:
    assert only(monitor(f"platforms: [openai, openai]\n{SCHEDULES}")).message == "a second entry for this platform"


@pytest.mark.parametrize("text", ["platforms:\n", "platforms: []\n", ""])
def test_a_monitor_without_platforms_is_a_fault(text: str) -> None:
    assert only(monitor(text + SCHEDULES)).message == "no platform is named"


@pytest.mark.parametrize(
    ("row", "field", "value", "message"),
    [
        ("rate: 0", "rate", "0", "out of range"),
        ("rate: -1", "rate", "-1", "out of range"),
        ("rate: fast", "rate", "fast", "not a number"),
        ("rate: .nan", "rate", ".nan", "not a number"),
        ("rate: .inf", "rate", ".inf", "not a number"),
        ("rate: 1e9", "rate", "1e9", "out of range"),
        ("in_flight: 0", "in_flight", "0", "out of range"),
        ("in_flight: 2.5", "in_flight", "2.5", "not a whole number"),
        ("call_timeout_s: 286", "call_timeout_s", "286", "out of range"),
        ("day_calls: 0", "day_calls", "0", "out of range"),
        ("day_budget_usd: 0", "day_budget_usd", "0", "out of range"),
        ("price_input: -0.1", "price_input", "-0.1", "out of range"),
        ("models: []", "models", "", "no model is named"),
        ("models: ['a b']", "models", "a b", "not a model's name"),
        ("models: ['a#b']", "models", "a#b", "not a model's name"),
        ("parameters: {temperature: 2.1}", "parameters", "2.1", "temperature is not a number in its range"),
        ("parameters: {temperature: true}", "parameters", "True", "temperature is not a number in its range"),
        ("parameters: {max_tokens: 100}", "parameters", "max_tokens", "openai answers max_tokens with an error"),
        ("parameters: {stream: true}", "parameters", "stream", "stream is set by the call itself"),
        ("headers: {Authorization: x}", "headers", "Authorization", "keys never stand in a catalogue"),
        ("headers: {'a b': x}", "headers", "a b", "not a header"),
        ("headers: {X-Team: 中文}", "headers", "X-Team", "a value that no HTTP header can carry"),
        (r'headers: {X-Team: "a\rb"}', "headers", "X-Team", "a value that no HTTP header can carry"),
        ("headers: {X-Team: ' a'}", "headers", "X-Team", "a value that no HTTP header can carry"),
        ("headers: {Host: x}", "headers", "Host", "Host is set by the call itself"),
        ("headers: {Content-Length: 3}", "headers", "Content-Length", "Content-Length is set by the call itself"),
        ("headers: {Transfer-Encoding: chunked}", "headers", "Transfer-Encoding", "Transfer-Encoding is set by the call itself"),
        ("headers: {X-Auth-Token: x}", "headers", "X-Auth-Token", "keys never stand in a catalogue"),
        ("headers: {Token: x}", "headers", "Token", "keys never stand in a catalogue"),
        ("headers: {Api-Token: x}", "headers", "Api-Token", "keys never stand in a catalogue"),
        ("headers: {X-Key: x}", "headers", "X-Key", "keys never stand in a catalogue"),
        ("headers: {X-ApiKey: x}", "headers", "X-ApiKey", "keys never stand in a catalogue"),
        ("headers: {X-MySecret: x}", "headers", "X-MySecret", "keys never stand in a catalogue"),
        ("headers: {X-Password: x}", "headers", "X-Password", "keys never stand in a catalogue"),
        ("key_header: Content-Type", "key_header", "Content-Type", "Content-Type is set by the call itself"),
        ("locale: 中文", "locale", "中文", "not a language tag"),
        (r'locale: "en\rX-Evil: 1"', "locale", r"en\rX-Evil: 1", "not a language tag"),
        ("parameters: {max_output_tokens: 16.5}", "parameters", "16.5", "max_output_tokens is not a whole number"),
        ("base_url: ftp://x", "base_url", "ftp://x", "the address is not an https URL"),
    ],
)  # fmt: skip
def test_a_setting_that_cannot_be_is_a_fault(row: str, field: str, value: str, message: str) -> None:
    fault = only(monitor(_with(row)))
    assert place(fault) == ("monitor.yaml", 3, f"platforms.openai.{field}", value)
    assert fault.message == message


def test_a_header_that_carries_the_key_is_not_given_a_value_of_its_own() -> None:
    fault = only(monitor(_with("headers: {x-team: abc}\nkey_header: X-Team")))
    assert place(fault) == ("monitor.yaml", 3, "platforms.openai.headers", "x-team")
    assert fault.message == "the header that carries the key"


def test_headers_that_name_no_key_are_taken_as_they_are() -> None:
    row = "headers: {OpenAI-Beta: x=1, X-Max-Tokens: 5, X-Keyboard: 'a b', X-On: true}"
    found = good(monitor(_with(row))).monitor.platform("openai")
    assert found.headers == {"OpenAI-Beta": "x=1", "X-Max-Tokens": "5", "X-Keyboard": "a b", "X-On": "true"}


def test_plain_http_is_for_this_machine_only() -> None:
    fault = only(monitor(_with("base_url: http://api.openai.com/v1")))
    assert (fault.row, fault.field, fault.value) == (3, "platforms.openai.base_url", "http://api.openai.com/v1")
    assert fault.message == "the address must use https (http is allowed for loopback hosts only)"


def test_an_unknown_setting_is_a_fault_that_guesses() -> None:
    fault = only(monitor(_with("model: x")))
    assert (fault.field, fault.remedy) == ("platforms.openai.model", "Did you mean 'models'")


@pytest.mark.parametrize(
    ("row", "field"),
    [
        ("samples: 0", "samples"),
        ("samples: 101", "samples"),
        ("expected_hold_s: 0", "expected_hold_s"),
        ("day_budget_usd: -5", "day_budget_usd"),
    ],
)
def test_a_monitors_number_out_of_range_is_a_fault(row: str, field: str) -> None:
    assert place(only(monitor(f"{PLATFORMS}{row}\n{SCHEDULES}")))[:3] == ("monitor.yaml", 2, field)


@pytest.mark.parametrize("text", ["", "schedules: []\n"])
def test_a_monitor_without_schedules_is_a_fault(text: str) -> None:
    assert only(monitor(PLATFORMS + text)).message == "there is no schedule"


def test_a_second_schedule_with_an_id_is_a_fault() -> None:
    row = "  - {id: daily, window: 02:00-04:00, deadline: 06:00}\n"
    assert place(only(monitor(f"{PLATFORMS}schedules:\n{row}{row}"))) == ("monitor.yaml", 4, "schedules.id", "daily")


def test_a_schedule_for_an_unknown_brand_is_a_fault() -> None:
    fault = only(monitor(_daily("02:00-04:00", "06:00", "    brands: [nikee]\n")))
    assert (*place(fault), fault.remedy) == ("monitor.yaml", 6, "schedules.brands", "nikee", "Did you mean 'nike'")


@pytest.mark.parametrize(
    ("window", "deadline", "message"),
    [
        ("02:00-05:00", "04:00", "not after the end of the window 02:00-05:00"),
        ("02:00-05:00", "05:00", "not after the end of the window 02:00-05:00"),
        ("22:00-02:00", "23:00", "not after the end of the window 22:00-02:00"),
        ("22:00-02:00", "01:00", "not after the end of the window 22:00-02:00"),
        ("02:00-05:00", "01:00", "before the window 02:00-05:00"),
        ("02:00-05:00", "02:00", "before the window 02:00-05:00"),
    ],
)
def test_a_deadline_before_the_window_is_through_is_a_fault(window: str, deadline: str, message: str) -> None:
    fault = only(monitor(_daily(window, deadline)))
    assert place(fault) == ("monitor.yaml", 5, "schedules.deadline", deadline)
    assert fault.message == message


@pytest.mark.parametrize(
    ("window", "deadline"),
    [("20:00-23:30", "00:30"), ("22:00-02:00", "06:00"), ("00:00-06:00", "23:00"), ("23:00-01:00", "20:00")],
)
def test_a_deadline_of_the_next_day_is_right(window: str, deadline: str) -> None:
    assert good(monitor(_daily(window, deadline))).monitor.schedules[0].deadline == deadline


def test_a_window_without_length_is_a_fault() -> None:
    assert only(monitor(_daily("02:00-02:00", "06:00"))).message == "the window ends when it begins"


@pytest.mark.parametrize("window", ["02:00", "2-4", "02:00-24:00", "02:60-04:00", "morning"])
def test_a_window_that_is_none_is_a_fault(window: str) -> None:
    assert monitor(_daily(window, "06:00")).faults[0].field == "schedules.window"


@pytest.mark.parametrize(
    ("zone", "remedy"),
    [
        ("Berlin", "Did you mean 'Europe/Berlin'"),
        ("Europe/Berln", "Did you mean 'Europe/Berlin'"),
        ("../etc/passwd", "Write a name such as Europe/Berlin or Asia/Shanghai"),
        ("localtime", "Write a name such as Europe/Berlin or Asia/Shanghai"),
        ("posixrules", "Write a name such as Europe/Berlin or Asia/Shanghai"),
        ("Factory", "Write a name such as Europe/Berlin or Asia/Shanghai"),
        ("posix/Asia/Shanghai", "Write a name such as Europe/Berlin or Asia/Shanghai"),
    ],
)
def test_an_unknown_time_zone_is_a_fault(zone: str, remedy: str) -> None:
    fault = only(monitor(_daily("02:00-04:00", "06:00", f"    time_zone: {zone}\n")))
    assert place(fault) == ("monitor.yaml", 6, "schedules.time_zone", zone)
    assert fault.remedy == remedy


def test_a_monitor_that_is_a_list_is_a_fault() -> None:
    assert only(monitor("- platforms\n")).message == "a list where a mapping is wanted"


def test_the_row_of_each_platform_is_known() -> None:
    assert monitor(MONITOR).platform_rows == {"openai": 2, "hunyuan": 3}


@pytest.mark.parametrize(("written", "switched"), [("true", True), ("yes", True), ("false", False), ("no", False)])
def test_the_canary_is_a_switch(written: str, switched: bool) -> None:
    assert good(monitor(f"{PLATFORMS}canary: {written}\n{SCHEDULES}")).monitor.canary is switched


def test_the_canary_is_off_unless_switched_on() -> None:
    assert good(monitor(f"{PLATFORMS}{SCHEDULES}")).monitor.canary is False


def test_another_word_for_the_canary_is_a_fault() -> None:
    fault = only(monitor(f"{PLATFORMS}canary: maybe\n{SCHEDULES}"))
    assert (fault.field, fault.value, fault.remedy) == ("canary", "maybe", "Write one of: true, false, yes, no")
