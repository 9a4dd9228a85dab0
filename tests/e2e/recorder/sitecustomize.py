"""Python imports this before anything else where its folder is in PYTHONPATH: inside the emulator's Lambda processes it writes
down every kind of AWS call that a function makes (once a process), one JSON line each, into the file BRANDVANE_RECORDED_CALLS.

Nothing here is loaded anywhere else: without both variables that only such a process has it does nothing at all.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import json
import os
import sys
from types import ModuleType
from typing import Any

_NAMING = ("TableName", "IndexName", "QueueUrl", "QueueName", "Bucket", "Name", "Path", "FunctionName", "Namespace")
_seen: set[str] = set()


def _write(operation: str, service: str, given: dict[str, Any]) -> None:
    told = {name: given[name] for name in _NAMING if name in given}
    if service == "s3" and "Key" in given:
        told["Prefix"] = str(given["Key"]).split("/")[0]
    if operation == "DeleteItem":
        told["Leading"] = next(iter(given["Key"]["id"].values())).split("#")[0]
    function = os.environ["AWS_LAMBDA_FUNCTION_NAME"]
    line = json.dumps({"function": function, "service": service, "operation": operation, "given": told}, sort_keys=True)
    if line not in _seen:
        _seen.add(line)
        with open(os.environ["BRANDVANE_RECORDED_CALLS"], "a", encoding="utf-8") as file:
            file.write(f"{line}\n")


def _hook(module: Any) -> None:
    made = module.BaseClient._make_api_call

    def recorded(self: Any, operation_name: str, api_params: dict[str, Any]) -> Any:
        # Before it is made: a call that is refused, and whose refusal the function swallows, must be seen as well.
        _write(operation_name, self.meta.service_model.service_name, api_params)
        return made(self, operation_name, api_params)

    module.BaseClient._make_api_call = recorded


class _Finder(importlib.abc.MetaPathFinder):
    """Waits for botocore's clients to be imported."""

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> Any:
        """Load the module as ever, then hook it."""
        if name != "botocore.client":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.loader is not None
        load = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            load(module)
            _hook(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


if {"AWS_LAMBDA_FUNCTION_NAME", "BRANDVANE_RECORDED_CALLS"} <= set(os.environ):
    sys.meta_path.insert(0, _Finder())
