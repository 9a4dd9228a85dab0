"""Does every alarm have its section, is every command on the page one that exists, does every link lead somewhere?"""

from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import botocore.session
import click
import pytest
from botocore import xform_name

from brandvane.cli.main import brandvane
from brandvane.notices.words import WORDS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "docs" / name for name in ("runbook.md", "deploying.md")]
RUNBOOK = (ROOT / "docs" / "runbook.md").read_text(encoding="utf-8")
PROCEDURES = {
    "A day in the life",
    "Deploy and rollback",
    "Rotating a key",
    "Changing a limit during a run",
    "A correction during a run",
    "Raising a deadline",
    "Restoring a table",
    "The cost of a day",
}


def kebab(name: str) -> str:
    """A name of the API as the command line writes it: RestoreDateTime is restore-date-time."""
    return str(xform_name(name, "-"))


def sections(text: str) -> dict[str, str]:
    """Heading of the second level -> what stands below it."""
    parts = re.split(r"^## (.+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def anchor(heading: str) -> str:
    """As GitHub makes it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def commands(text: str, program: str) -> Iterator[list[str]]:
    """Words of every command of a program, in blocks and within lines; comments and what is left open are cut off."""
    blocks = re.findall(r"^```\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    lines += re.findall(r"`([^`\n]+)`", re.sub(r"^```\n.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))
    for line in lines:
        with contextlib.suppress(ValueError):  # no command at all
            words = shlex.split(re.sub(r"\s#.*|…", "", line))
            if words[:1] == [program]:
                yield words[1:]


def check(words: list[str]) -> None:
    """Follow groups down to the command, then look at its options."""
    context = click.Context(brandvane, info_name="brandvane")
    command: click.Command = brandvane
    rest = list(words)
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        found = command.get_command(context, rest[0])
        assert found is not None, f"no such command: brandvane {' '.join(words)}"
        command = found
        rest.pop(0)
    assert not isinstance(command, click.Group) or rest == [] or rest[0].startswith("-"), words
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    strange = [word for word in rest if word.startswith("--") and word.split("=")[0] not in known]
    assert strange == [], f"no such option: brandvane {' '.join(words)}"
    if not isinstance(command, click.Group):
        complete = [word for word in rest if word not in ("--help",)]
        command.make_parser(click.Context(command)).parse_args(complete)


@pytest.mark.parametrize("alarm", WORDS)
def test_every_alarm_has_a_section_that_says_what_it_means_what_to_type_and_when_it_clears(alarm: str) -> None:
    text = sections(RUNBOOK)[alarm]
    assert text.strip().startswith(f"**{WORDS[alarm].severity}")
    assert list(commands(text, "brandvane"))
    assert "Clears" in text or alarm == "account-spend"


def test_the_runbook_has_no_section_of_an_alarm_that_does_not_exist() -> None:
    assert set(sections(RUNBOOK)) == set(WORDS) | PROCEDURES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_on_a_page_exists_with_its_options(page: Path) -> None:
    for words in filter(None, commands(page.read_text(encoding="utf-8"), "brandvane")):
        check(words)


@pytest.mark.parametrize("alarm", WORDS)
def test_every_command_of_a_message_exists_with_its_options(alarm: str) -> None:
    for command in WORDS[alarm].commands:
        words = shlex.split(command.format(platform="openai"))
        assert words[0] == "brandvane"
        check(words[1:])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_aws_command_names_an_operation_and_its_parameters(page: Path) -> None:
    session = botocore.session.get_session()
    for service, operation, *rest in commands(page.read_text(encoding="utf-8"), "aws"):
        if operation == "wait":  # a waiter has the parameters of the operation that it repeats
            waiters = session.get_waiter_model(service)
            waited = {kebab(name): name for name in waiters.waiter_names}
            assert rest[0] in waited, rest[0]
            operation = kebab(waiters.get_waiter(waited[rest[0]]).operation)
        model = session.get_service_model(service)
        named = {kebab(name): name for name in model.operation_names}
        assert operation in named, operation
        shape = model.operation_model(named[operation]).input_shape
        assert shape is not None
        members = {kebab(name) for name in shape.members}
        members |= {f"no-{kebab(name)}" for name, member in shape.members.items() if member.type_name == "boolean"}
        options = {word.removeprefix("--") for word in rest if word.startswith("--")}
        assert options <= members | {"query", "output", "region", "profile"}, operation


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_to_a_section_or_a_file(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        if target.startswith("https://"):
            continue
        file, _, section = target.partition("#")
        there = page if not file else (page.parent / file)
        assert there.exists(), target
        if section:
            headings = re.findall(r"^#+ (.+)$", there.read_text(encoding="utf-8"), re.MULTILINE)
            assert section in {anchor(heading) for heading in headings}, target


def test_make_targets_on_the_pages_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {words[0] for page in PAGES for words in commands(page.read_text(encoding="utf-8"), "make")}
    assert named <= targets


@pytest.mark.parametrize("line", ["run begin", "retry RUN --all", "run deadline --soon RUN +1h"])
def test_a_command_that_does_not_exist_is_noticed(line: str) -> None:
    with pytest.raises((AssertionError, click.ClickException)):
        check(line.split())
