"""What can be said to ``brandvane``? The root of the command line; a command's module is loaded only when it is used."""

from __future__ import annotations

from importlib import import_module

import click

from brandvane import __version__
from brandvane.cli.errors import CliError, run_cli

# command -> module, attribute, help
COMMANDS = {
    "status": ("status_command", "status", "Show runs, platforms, queues, alarms and spending on one screen."),
    "watch": ("status_command", "watch", "The same, live."),
    "logs": ("logs_command", "logs", "Show the log lines of all functions, filtered."),
    "estimate": ("estimate_command", "estimate", "Say what a day of a catalogue will take and cost."),
    "doctor": ("doctor_command", "doctor", "Check this machine, or with --aws the deployed stack."),
    "catalogue": ("catalogue_commands", "catalogue", "Check, push and compare what is watched and asked."),
    "run": ("run_commands", "run", "Start, watch and end runs."),
    "platform": ("platform_commands", "platform", "Show, pause, resume and slow down platforms."),
    "keys": ("keys_commands", "keys", "Set the platforms' API keys."),
    "mentions": ("mentions_commands", "mentions", "See what answers mention and why; put it right."),
    "errors": ("errors_commands", "errors", "See how responses of AI platforms are read."),
    "reparse": ("reparse_command", "reparse", "Read a run's answers anew, asking no platform."),
    "task": ("task_commands", "task", "See the whole life of a task; ask it again."),
    "dead-letters": ("dead_letters_commands", "dead_letters", "See dead letters, send them back or delete them."),
    "local": ("local_commands", "local", "Keep a whole stack on this machine, to play with."),
    "demo": ("demo_command", "demo", "Show everything once, on this machine."),
    "chaos": ("chaos_command", "chaos", "Kill a local stack's workers while they work, and count."),
    "simulate": ("simulate_command", "simulate", "Run the engine through days of faults in virtual time."),
    "stand-in": ("standin_command", "stand_in", "Serve simulated AI platforms."),
}
# former names, which work and are not shown
FORMER = {
    "retry": ("retry_command", "retry", "Ask a run's failed tasks again."),
    "redrive": ("redrive_command", "redrive", "Look at dead letters and send them back."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, so that help and errors come at once."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command.

        Raises:
            CliError: a package it needs is not installed.
        """
        found = COMMANDS.get(cmd_name) or FORMER.get(cmd_name)
        if found is None:
            return None
        module, attribute, _ = found
        try:
            command = getattr(import_module(f"brandvane.cli.{module}"), attribute)
        except ModuleNotFoundError as error:
            if error.name is not None and error.name.startswith("brandvane"):
                raise CliError(f"'{cmd_name}' is not part of this installation ({error.name} is missing)") from error
            raise CliError(f"'{cmd_name}' needs {error.name}: pip install 'brandvane[cli]'") from error
        return command if isinstance(command, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table's own help texts, without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, _, text) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="brandvane")
def brandvane() -> None:
    """How visible are brands in the answers of AI platforms? Ask every day, keep every answer, report."""


def main() -> None:
    """The console script."""
    run_cli(brandvane)
