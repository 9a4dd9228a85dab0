"""Keys of real platforms, from a file that nothing but ``local up --real`` reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from brandvane.cli.errors import CliError
from brandvane.cli.local_keys import keys_from, parse, variable_of


def test_a_platforms_variable_is_its_name_in_capitals() -> None:
    assert variable_of("openai") == "BRANDVANE_KEY_OPENAI"
    assert variable_of("open-ai") == "BRANDVANE_KEY_OPEN_AI"


def test_comments_quotes_and_export_are_understood() -> None:
    text = "# BRANDVANE_KEY_A=no\n\nexport BRANDVANE_KEY_B = 'b=b'\nBRANDVANE_KEY_C=\"c\"\nBRANDVANE_KEY_D=\nOTHER\n"
    assert parse(text) == {"BRANDVANE_KEY_B": "b=b", "BRANDVANE_KEY_C": "c"}


def test_the_keys_of_the_platforms_that_are_asked_are_found(tmp_path: Path) -> None:
    env = tmp_path / ".env"
    env.write_text("BRANDVANE_KEY_OPENAI=sk-1\nBRANDVANE_KEY_HUNYUAN=sk-2\nBRANDVANE_KEY_KIMI=sk-3\n")
    assert keys_from(env, ("openai", "hunyuan")) == {"openai": "sk-1", "hunyuan": "sk-2"}


def test_a_missing_key_is_named_and_no_key_is_shown(tmp_path: Path) -> None:
    env = tmp_path / ".env"
    env.write_text("BRANDVANE_KEY_OPENAI=sk-secret\n")
    with pytest.raises(CliError) as raised:
        keys_from(env, ("openai", "hunyuan"))
    assert raised.value.format_message() == (
        f"{env}: no BRANDVANE_KEY_HUNYUAN; add it, or name the platforms to ask with --platform"
    )
    assert raised.value.exit_code == 2


def test_a_missing_file_says_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(
        CliError, match=r"cannot be read \(No such file or directory\); write a line BRANDVANE_KEY_OPENAI="
    ):
        keys_from(tmp_path / ".env", ("openai",))


def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(tmp_path: Path) -> None:
    env = tmp_path / ".env"
    env.write_text("BRANDVANE_KEY_OPENAI=sk secret\n")
    with pytest.raises(CliError) as raised:
        keys_from(env, ("openai",))
    assert "BRANDVANE_KEY_OPENAI holds characters" in raised.value.format_message()
    assert "secret" not in raised.value.format_message()
