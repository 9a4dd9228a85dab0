"""``brandvane keys``: do keys get where they belong, and nowhere else?"""

from __future__ import annotations

import pytest

from brandvane.cli.keys_commands import keys
from brandvane.control import Control, Pause
from builders import NOW, catalogue, platform
from operator_desk import Office, office

GIVEN = catalogue(platforms=(platform("openai"), platform("hunyuan")))
SECRET = "sk-abc123"


def _office(*, interactive: bool = False) -> Office:
    return office(GIVEN, interactive=interactive)


def test_a_key_is_read_from_standard_input_without_its_line_end() -> None:
    here = _office()

    result = here.say(keys, "set", "openai", "--stdin", stdin=f"{SECRET}\n")

    assert result.exit_code == 0
    assert here.keys.values == {"openai": SECRET}
    assert result.stdout == "/test/keys/openai is set (version 1)\n"


def test_on_a_terminal_the_key_is_asked_for_and_not_shown() -> None:
    here = _office(interactive=True)

    result = here.say(keys, "set", "openai", stdin=f"{SECRET}\n")

    assert here.keys.values == {"openai": SECRET}
    assert "Key of openai" in result.stderr
    assert SECRET not in result.output


def test_without_a_terminal_the_key_must_be_piped_in() -> None:
    result = _office().say(keys, "set", "openai", stdin=SECRET)

    assert result.exit_code == 2
    assert "--stdin" in result.stderr


def test_a_key_is_never_an_argument() -> None:
    result = _office().say(keys, "set", "openai", SECRET)

    assert result.exit_code == 2


@pytest.mark.parametrize("given", ["", "\n", "sk abc", "sk\nabc", "schlüssel", "x" * 5000])
def test_what_is_no_key_is_refused_without_being_repeated(given: str) -> None:
    here = _office()

    result = here.say(keys, "set", "openai", "--stdin", stdin=given)

    assert result.exit_code == 2
    assert "nothing was changed" in result.stderr
    assert here.keys.values == {}
    assert not given.strip() or given.strip() not in result.output


def test_a_key_in_bytes_that_are_no_text_is_refused() -> None:
    here = _office()

    result = here.say(keys, "set", "openai", "--stdin", stdin=b"sk-\xff\xfe")

    assert (result.exit_code, here.keys.values) == (2, {})
    assert "the key is not plain text (no UTF-8): nothing was changed" in result.stderr


def test_a_key_for_an_unknown_platform_is_refused() -> None:
    here = _office()

    result = here.say(keys, "set", "openia", "--stdin", stdin=SECRET)

    assert result.exit_code == 2
    assert "there is no platform 'openia'; did you mean openai?" in result.stderr
    assert here.keys.values == {}


def test_a_paused_platform_is_said_to_need_resuming() -> None:
    here = _office()
    here.world.control.items["openai"] = Control("openai", 1, Pause("auth_error", "worker", NOW))

    result = here.say(keys, "set", "openai", "--stdin", stdin=SECRET)

    assert "openai is paused (auth_error); to go on: brandvane platform resume openai" in result.stdout


def test_check_names_the_missing_ones_and_ends_with_1() -> None:
    here = _office()
    here.say(keys, "set", "openai", "--stdin", stdin=SECRET)

    result = here.say(keys, "check")

    assert result.exit_code == 1
    assert [line.split() for line in result.stdout.splitlines()[1:]] == [
        ["openai", "version", "1", "2025-10-09", "00:00", "UTC"],
        ["hunyuan", "missing"],
    ]
    assert result.stderr == "brandvane: no key for hunyuan: brandvane keys set hunyuan\n"
    assert SECRET not in result.output


def test_check_ends_with_0_when_every_platform_has_a_key() -> None:
    here = _office()
    for name in ("openai", "hunyuan"):
        here.say(keys, "set", name, "--stdin", stdin=SECRET)

    told = here.json(keys, "check")

    assert (told["ok"], told["missing"]) == (True, [])
    assert told["keys"][0] == {
        "platform": "openai",
        "parameter": "/test/keys/openai",
        "set": True,
        "version": 1,
        "set_at": "2025-10-09T00:00:00+00:00",
        "asked": None,
    }
    assert SECRET not in str(told)


def test_check_as_json_ends_with_1_too_when_one_is_missing() -> None:
    assert _office().say(keys, "check", "--json").exit_code == 1


def test_a_platform_that_cannot_be_reached_leaves_its_key_unjudged() -> None:
    here = office(catalogue(platforms=(platform("openai", base_url="http://127.0.0.1:9/v1"),)), interactive=False)
    here.say(keys, "set", "openai", "--stdin", stdin=SECRET)

    told = here.json(keys, "check", "--ask")

    assert (told["ok"], told["refused"]) == (True, [])
    assert told["keys"][0]["asked"]["verdict"] == "unknown"
    assert SECRET not in str(told)
