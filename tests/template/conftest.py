"""What does template.yaml say once its loop, mappings, conditions, parameters and Globals are applied?

A small processor of our own for exactly what the template uses. References to resources become their logical ids
(``Tasks``, ``Tasks.Arn``); the stack is called ``stack``. Policies that are added to a role stand among the role's own.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PSEUDO: Mapping[str, str] = {
    "AWS::StackName": "stack",
    "AWS::Region": "region",
    "AWS::AccountId": "account",
    "AWS::Partition": "aws",
}
NO_VALUE = object()
LOOP = "Fn::ForEach::"


class _Loader(yaml.SafeLoader):
    """YAML with CloudFormation's short forms."""


def _short_form(loader: yaml.SafeLoader, name: str, node: yaml.Node) -> dict[str, Any]:
    """``!Ref x`` -> ``{"Ref": x}``, ``!GetAtt a.b`` -> ``{"Fn::GetAtt": [a, b]}``, ``!Sub x`` -> ``{"Fn::Sub": x}``."""
    value: Any
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        assert isinstance(node, yaml.MappingNode)
        value = loader.construct_mapping(node, deep=True)
    if name == "GetAtt" and isinstance(value, str):
        value = value.split(".", 1)
    return {name if name in {"Ref", "Condition"} else f"Fn::{name}": value}


_Loader.add_multi_constructor("!", _short_form)


def _replace(node: Any, identifier: str, item: str) -> Any:
    """One turn of a loop: the identifier in keys, in strings and in ``Ref``."""
    if isinstance(node, dict):
        if node == {"Ref": identifier}:
            return item
        return {_replace(k, identifier, item): _replace(v, identifier, item) for k, v in node.items()}
    if isinstance(node, list):
        return [_replace(v, identifier, item) for v in node]
    return node.replace(f"${{{identifier}}}", item) if isinstance(node, str) else node


def _expand_loops(section: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, value in section.items():
        if not key.startswith(LOOP):
            out[key] = value
            continue
        identifier, items, body = value
        for item in items:
            out.update(_replace(body, identifier, item))
    return out


def _merged(base: Any, own: Any) -> Any:
    """Globals under a function's own properties: mappings merge, anything else is the function's own."""
    if isinstance(base, dict) and isinstance(own, dict):
        return {k: _merged(base[k], own[k]) if k in base and k in own else own.get(k, base.get(k)) for k in base | own}
    return own


class _Resolver:
    """Applies parameters, mappings and conditions to a tree."""

    def __init__(self, template: Mapping[str, Any], parameters: Mapping[str, Any]) -> None:
        declared = template["Parameters"]
        unknown = set(parameters) - set(declared)
        assert not unknown, f"no such parameter: {unknown}"
        self.parameters = {name: parameters.get(name, p["Default"]) for name, p in declared.items()}
        self.mappings = template["Mappings"]
        self.conditions = template["Conditions"]

    def holds(self, condition: str) -> bool:
        """Is a named condition true?"""
        return self._true(self.conditions[condition])

    def _true(self, test: Mapping[str, Any]) -> bool:
        ((function, argument),) = test.items()
        match function:
            case "Fn::Equals":
                left, right = (self.resolve(side) for side in argument)
                return str(left) == str(right)
            case "Fn::Not":
                return not self._true(argument[0])
            case "Fn::And":
                return all(map(self._true, argument))
            case "Condition":
                return self.holds(argument)
            case _:
                raise AssertionError(f"the template uses {function} in a condition, which this processor does not know")

    def resolve(self, node: Any) -> Any:
        """The tree without functions; members that come to ``AWS::NoValue`` are gone."""
        if isinstance(node, list):
            return [v for v in map(self.resolve, node) if v is not NO_VALUE]
        if not isinstance(node, dict):
            return node
        if len(node) == 1:
            ((function, argument),) = node.items()
            if function == "Ref" or function.startswith("Fn::"):
                return self._call(function, argument)
        resolved = {key: self.resolve(value) for key, value in node.items()}
        return {key: value for key, value in resolved.items() if value is not NO_VALUE}

    def _call(self, function: str, argument: Any) -> Any:
        match function:
            case "Ref":
                return self._reference(self.resolve(argument))
            case "Fn::GetAtt":
                return ".".join(self.resolve(argument))
            case "Fn::If":
                condition, yes, no = argument
                return self.resolve(yes if self.holds(condition) else no)
            case "Fn::FindInMap":
                table, row, column = self.resolve(argument)
                return self.mappings[table][row][column]
            case "Fn::Sub":
                text, own = argument if isinstance(argument, list) else (argument, {})
                values = self.resolve(own)
                return re.sub(r"\$\{([^}]+)\}", lambda m: str(values.get(m[1], self._reference(m[1]))), text)
            case _:
                raise AssertionError(f"the template uses {function}, which this processor does not know")

    def _reference(self, name: str) -> Any:
        if name == "AWS::NoValue":
            return NO_VALUE
        return self.parameters.get(name, PSEUDO.get(name, name))


def process(source: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Resources by logical id, as CloudFormation would get them after the loop and Globals.

    Raises:
        AssertionError: a parameter that the template has not, or a function that is not known here.
    """
    template = copy.deepcopy(dict(source))
    resolver = _Resolver(template, parameters)
    resources: dict[str, dict[str, Any]] = {}
    for name, resource in _expand_loops(template["Resources"]).items():
        if "Condition" in resource and not resolver.holds(resource["Condition"]):
            continue
        if resource["Type"] == "AWS::Serverless::Function":
            resource["Properties"] = _merged(template["Globals"]["Function"], resource["Properties"])
        resources[name] = resolver.resolve({k: v for k, v in resource.items() if k != "Condition"})
    for policy in [r["Properties"] for r in resources.values() if r["Type"] == "AWS::IAM::Policy"]:
        for role in policy["Roles"]:  # IAM does not tell whether a role's policy came with it or was added to it
            added = {name: policy[name] for name in ("PolicyName", "PolicyDocument")}
            resources[role]["Properties"]["Policies"].append(added)
    return resources


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


def read(path: Path) -> dict[str, Any]:
    """A template as written."""
    loaded: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    return loaded


@pytest.fixture(scope="session")
def read_template() -> Callable[[Path], dict[str, Any]]:
    """``read``, for the templates of nested stacks."""
    return read


@pytest.fixture(scope="session")
def source() -> dict[str, Any]:
    """template.yaml as written."""
    return read(ROOT / "template.yaml")


@pytest.fixture(scope="session")
def process_template() -> Callable[[Mapping[str, Any], Mapping[str, Any]], dict[str, dict[str, Any]]]:
    """``process``, for tests that change the source first."""
    return process


@pytest.fixture(scope="session")
def processed(source: dict[str, Any]) -> Callable[..., dict[str, dict[str, Any]]]:
    """``processed(Emulator="true", ...)``: the resources under these parameters, defaults for the rest."""

    def under(**parameters: Any) -> dict[str, dict[str, Any]]:
        return process(source, parameters)

    return under


@pytest.fixture(scope="session")
def resources(processed: Callable[..., dict[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """The resources on AWS, with executions reserved."""
    return processed(ReserveConcurrency="true")
