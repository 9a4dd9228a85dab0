"""``brandvane redrive``: the former name of ``brandvane dead-letters list | redrive | discard``."""

from __future__ import annotations

import click

from brandvane.cli.consent import Consent, consent_options
from brandvane.cli.dead_letters_commands import discard_letters, letters_in, redrive_letters, show_letters
from brandvane.cli.dead_letters_view import letter_document
from brandvane.cli.desk import Desk, desk_options
from brandvane.cli.errors import CliError
from brandvane.cli.view import say_json


@click.command(hidden=True)
@click.argument("queue", metavar="[QUEUE]", required=False)
@click.option("--list", "only_list", is_flag=True, help="Only show the letters and what would become of each.")
@click.option("--discard", metavar="ID", help="Delete this letter (an answer that it carries is kept).")
@consent_options
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
@desk_options
def redrive(
    queue: str | None, only_list: bool, discard: str | None, consent: Consent, as_json: bool, desk: Desk
) -> None:
    """Send dead letters where they belong; now 'brandvane dead-letters redrive'."""
    if only_list and discard is not None:
        raise CliError("--list and --discard exclude each other", 2)
    letters = letters_in(desk, [] if queue is None else [queue])
    if discard is not None:
        chosen = [each for each in letters if each.message.message_id == discard]
        if not chosen:
            raise CliError(
                f"--discard: there is no letter '{discard}': 'brandvane dead-letters list' shows those there are", 2
            )
        gone = discard_letters(desk, chosen, consent, quiet=as_json)
        if as_json:
            say_json({"discarded": letter_document(gone[0]) if gone else None})
    elif only_list:
        show_letters(letters, as_json=as_json)
    else:
        redrive_letters(desk, letters, consent, as_json=as_json)
