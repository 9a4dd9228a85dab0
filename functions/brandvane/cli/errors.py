"""How does a command end that cannot do what it was asked? One clear sentence on stderr and an exit code, never a traceback.

Exit codes: 0 done, 1 the work failed, 2 wrong usage or input, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import IO, Any, NoReturn

import click

from brandvane.aws.client import Refused
from brandvane.ports import Unavailable

INTERRUPTED = 130
_BAD_CREDENTIALS = (
    "ExpiredToken",
    "ExpiredTokenException",
    "InvalidClientTokenId",
    "InvalidAccessKeyId",
    "UnrecognizedClientException",
    "SignatureDoesNotMatch",
    "InvalidSignatureException",
)
_NO_CREDENTIALS = (
    "NoCredentialsError",
    "PartialCredentialsError",
    "CredentialRetrievalError",
    "SSOTokenLoadError",
    "TokenRetrievalError",
    "UnauthorizedSSOTokenError",
)
_NO_ANSWER = (
    "EndpointConnectionError",
    "ConnectTimeoutError",
    "ReadTimeoutError",
    "ConnectionClosedError",
    "ProxyConnectionError",
    "HTTPClientError",
    "SSLError",
)


class CliError(click.ClickException):
    """Ends a command with a message and an exit code: 1 the work failed, 2 wrong usage or input."""

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = code  # type: ignore[misc]  # click reads it from the instance, and declares it for the class

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the message."""
        click.echo(f"brandvane: {writable(self.format_message())}", file=file or sys.stderr)


def writable(text: str) -> str:
    """A text that UTF-8 can write: half a surrogate pair, which JSON may hold, becomes its escape (as JSON writes it)."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def run_cli(command: click.Command, args: Sequence[str] | None = None) -> NoReturn:
    """Run a command line and exit. The only place that turns exceptions into messages and exit codes.

    An exception that is nobody's input or environment is a bug and keeps its traceback.
    """
    try:
        code = command.main(args=None if args is None else list(args), prog_name="brandvane", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("brandvane: interrupted", err=True)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has gone; closing it again at exit must not complain either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:  # only AWS's and the ports' own are explained, all others are raised again
        explained = explain(error)
        if explained is None:
            raise
        explained.show()
        sys.exit(explained.exit_code)
    sys.exit(code if isinstance(code, int) else 0)


def explain(error: BaseException) -> CliError | None:
    """The sentence for an exception of AWS's client or of a port; None for any other."""
    if isinstance(error, Unavailable):
        cause = explain(error.__cause__) if error.__cause__ is not None else None
        return cause or CliError(f"a service did not do its part: {error}. Try again")
    if isinstance(error, Refused):
        return CliError(_refused({"Code": error.code, "Message": str(error).partition(": ")[2]}, "a call"))
    if not type(error).__module__.startswith("botocore"):
        return None
    name = type(error).__name__
    if name in _NO_CREDENTIALS:
        return CliError("no AWS credentials were found: use --profile, set AWS_PROFILE, or run 'aws sso login'")
    if name == "ProfileNotFound":
        return CliError(f"{error}: 'aws configure list-profiles' shows those there are", 2)
    if name == "NoRegionError":
        return CliError("no AWS region is set: use --region, or set AWS_REGION", 2)
    if name in _NO_ANSWER:
        return CliError(_no_answer(error))
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        return CliError(_refused(response.get("Error", {}), getattr(error, "operation_name", "a call")))
    return CliError(f"AWS's client cannot do this: {error}")


def _no_answer(error: BaseException) -> str:
    from brandvane.platforms.registry import is_loopback

    address = str(getattr(error, "kwargs", {}).get("endpoint_url") or "its address")
    host = address.split("//")[-1].split("/")[0].rsplit(":", 1)[0].strip("[]")
    if is_loopback(host):
        return f"nothing answers at {address}: start the emulator with 'brandvane local up', or unset AWS_ENDPOINT_URL"
    return f"AWS does not answer at {address}: look at the network, the region and AWS_ENDPOINT_URL"


def _refused(error: dict[str, Any], operation: str) -> str:
    code, message = error.get("Code", "unknown"), error.get("Message", "")
    if code in _BAD_CREDENTIALS:
        return f"AWS does not accept the credentials ({code}): renew them, or use another --profile"
    if code.startswith("AccessDenied"):
        return f"these credentials may not do this ({operation}): {message}"
    return f"AWS refused {operation}: {code}: {message}"
