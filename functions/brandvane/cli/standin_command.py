"""``brandvane stand-in``: simulated AI platforms on this machine, until they are told to stop."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import signal
from pathlib import Path

import click

from brandvane.simulation.standin_behaviour import StandinFault
from brandvane.simulation.standin_config import StandinConfig, configured
from brandvane.simulation.standin_server import StandinServer


class _BadInput(click.ClickException):
    """Wrong input: one line, exit code 2."""

    exit_code = 2


@click.command("stand-in")
@click.option(
    "--platform",
    "platforms",
    multiple=True,
    metavar="NAME[:FIELD=VALUE,…]",
    help="A platform; its fields are named above.",
)
@click.option("--config", "config_file", type=Path, metavar="FILE", help="JSON: platforms, seed, brands, models.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, show_default=True, help="0 takes a free one.")
@click.option("--seed", type=int, help="Decides every fault, latency and answer.  [default: 0]")
@click.option("--log", "log_file", type=Path, metavar="FILE", help="Append a JSON line for every call.")
@click.option("--answers", type=Path, metavar="FILE", help="Replay recorded answers: JSONL of question, model, answer.")
@click.option(
    "--model-of", "models", multiple=True, metavar="PLATFORM=MODEL", help="The recorded model a platform stands for."
)
@click.option("--ready-file", type=Path, metavar="FILE", help="Also write the address there, once it is listening.")
def stand_in(
    platforms: tuple[str, ...],
    config_file: Path | None,
    port: int,
    seed: int | None,
    log_file: Path | None,
    answers: Path | None,
    models: tuple[str, ...],
    ready_file: Path | None,
) -> None:
    """Simulate AI platforms on 127.0.0.1 that speak the platforms' protocols, enforce their limits and fail on demand.

    Fields of a platform: rate (calls in any second), in_flight, median, sigma and cap (seconds to the answer, lognormal),
    retry_after (seconds), protocol (openai_chat, openai_responses, anthropic_messages, gemini, perplexity_agent, dashscope,
    tencent_tc3), and shares of all calls (0 to 1): injected_429, error_500, error_503, hang, cut, empty, malformed, inside_200 (an
    error inside a success), no_credit, bad_key, model_gone; of answers: keep_alive (after blank lines), truncated, filtered, refused.
    With openai_chat a platform's errors are those of the vendor in its name (azure, deepseek, qwen, doubao, kimi, hunyuan).

    Prints one JSON line with the address. Pages: /_standin/health, /_standin/log, /_standin/audit, /_standin/calls (under
    way); POST /_standin/platforms {"NAME": {"rate": 5}} changes a platform while it runs; POST /_standin/brands
    ["NAME"] changes the brands that made-up answers name; POST /_standin/ended {"request_id": "ID"} is answered in the moment in
    which that call ends.
    """
    try:
        config = configured(config_file, platforms, models, seed=seed, answers=answers, log=log_file)
        asyncio.run(_serve(config, port, ready_file))
    except StandinFault as fault:
        raise _BadInput(str(fault)) from None


async def _serve(config: StandinConfig, port: int, ready_file: Path | None) -> None:
    server = StandinServer(config)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, server.ended.set)
    try:
        await _listen(server, port)
        line = json.dumps(server.description(), ensure_ascii=False)
        if ready_file is not None:
            _write_ready(ready_file, line)
        click.echo(line)
        await server.ended.wait()
    finally:
        await server.stop()
    if server.failure is not None:
        raise click.ClickException(f"{config.log}: the call log cannot be written ({server.failure.strerror}); stopped")


async def _listen(server: StandinServer, port: int) -> None:
    try:
        await server.start(port)
    except OSError as error:
        raise click.ClickException(_port_refused(port, error)) from None


def _write_ready(path: Path, line: str) -> None:
    """Whoever waits for the file must never read half of it: written beside it, then renamed."""
    beside = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        beside.write_text(line + "\n", encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise StandinFault(f"{path}: cannot be written ({error.strerror}); check --ready-file") from None


def _port_refused(port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"port {port} is taken by another program; choose another with --port"
    return f"port {port} cannot be used ({os.strerror(error.errno or 0)}); choose another with --port"


if __name__ == "__main__":
    stand_in()
