"""What does template.yaml say of each platform's worker? Its Mappings, read without CloudFormation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

LOOP = "Fn::ForEach::Platform"
TEMPLATE = Path(__file__).resolve().parents[3] / "template.yaml"


@dataclass(frozen=True, slots=True)
class TemplateRow:
    """One platform: executions at a time, and how many to reserve for it."""

    platform: str
    invocations: int
    reserved: int


class _Loader(yaml.SafeLoader):
    """YAML whose short forms (``!Ref`` and its like) stand for nothing."""


_Loader.add_multi_constructor("!", lambda loader, name, node: None)


def template_rows(path: Path = TEMPLATE, *, standins: bool = False) -> dict[str, TemplateRow]:
    """Rows of the platforms in the loop's list; with ``standins`` the sizes that simulated ones have. Empty without a template.

    The product may be installed without its repository: then there is nothing to compare with.
    """
    if not path.is_file():
        return {}
    document: Mapping[str, Any] = yaml.load(path.read_text(encoding="utf-8"), _Loader)  # noqa: S506 - a safe loader
    mappings = document["Mappings"]
    size = mappings["Sizes"]["StandIn"] if standins else {}
    listed = document["Resources"][LOOP][1]
    rows = [{**mappings["Platforms"][name], **size} for name in listed]
    return {row["Name"]: TemplateRow(row["Name"], int(row["Invocations"]), int(row["Reserved"])) for row in rows}
