"""What of the deployment depends on the machine, and what is said when the machine does not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from brandvane.cli import local_deploy
from brandvane.cli.errors import CliError
from brandvane.cli.local_deploy import Machine, architecture_of, overrides, runtime_of, sam_program, this_machine

MACHINE = Machine("python3.12", Path("/tools/bin"), "x86_64")


def test_a_python_names_its_lambda_runtime() -> None:
    assert runtime_of(3, 11, ("python3.11", "python3.13")) == "python3.11"


def test_a_python_that_is_too_old_is_named_with_the_remedy() -> None:
    with pytest.raises(CliError) as raised:
        runtime_of(3, 9, ("python3.11",))
    assert raised.value.format_message() == (
        "the emulator runs on Python 3.9, and functions need 3.11 or newer:"
        " remove .tools/ and run 'make demo' with a newer Python first in PATH"
    )
    assert raised.value.exit_code == 1


def test_a_python_without_a_lambda_runtime_is_refused() -> None:
    with pytest.raises(CliError, match=r"knows no Lambda runtime \(python3\.11, python3\.12\)"):
        runtime_of(3, 99, ("python3.11", "python3.12"))


@pytest.mark.parametrize(("machine", "name"), [("x86_64", "x86_64"), ("AMD64", "x86_64"), ("aarch64", "arm64")])
def test_processors_have_their_lambda_names(machine: str, name: str) -> None:
    assert architecture_of(machine) == name


def test_a_processor_that_lambda_does_not_know_is_refused() -> None:
    with pytest.raises(CliError, match="processor riscv64"):
        architecture_of("riscv64")


def test_section_local_is_kept_and_what_depends_on_the_machine_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_deploy, "ROOT", tmp_path)
    (tmp_path / "template.yaml").write_text("")
    (tmp_path / "samconfig.toml").write_text(
        '[local.deploy.parameters]\nparameter_overrides = "Emulator=true StandIns=true"\n'
    )
    assert overrides(MACHINE, {"StandIns": "false"}) == (
        "Emulator=true StandIns=false PythonRuntime=python3.12 Architecture=x86_64"
    )


def test_outside_a_checkout_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_deploy, "ROOT", tmp_path)
    with pytest.raises(CliError, match="run this from a checkout of the project"):
        overrides(MACHINE, {})


def test_a_missing_sam_cli_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(local_deploy.SAM_VARIABLE, raising=False)
    monkeypatch.setattr(local_deploy, "ROOT", tmp_path)
    with pytest.raises(CliError, match=r"^SAM CLI is not installed: there is no .*; run 'make demo'$"):
        sam_program()


def test_a_missing_emulator_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRANDVANE_MINISTACK", str(tmp_path / "none"))
    with pytest.raises(CliError, match="The emulator is not installed"):
        this_machine()


def test_the_templates_runtimes_are_found() -> None:
    found = local_deploy.runtimes()
    assert "python3.11" in found
    assert "python3.13" in found
    assert all(name.startswith("python3.") for name in found)
