"""What is known of a deployed stack? Read from AWS when it is first asked for, and then kept."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from brandvane.aws.catalogue_store import S3CatalogueStore
from brandvane.catalogue import Catalogue
from brandvane.cli.aws_context import AwsContext
from brandvane.cli.template_rows import TemplateRow, template_rows
from brandvane.ports import Deployed

NAMES_SHOWN = 5
NESTED = "AWS::CloudFormation::Stack"
ENVIRONMENT = "environment"
PRODUCTION = ("prod", "production")


class StackFacts:
    """Of the stack that ``aws`` names; changes nothing."""

    def __init__(self, aws: AwsContext, rows: Mapping[str, TemplateRow] | None = None) -> None:
        """``rows``: the template's, else those of the repository."""
        self.aws = aws
        self._rows_given = rows

    @cached_property
    def stack(self) -> Mapping[str, Any] | None:
        """As CloudFormation describes it; None: there is none."""
        from botocore.exceptions import ClientError

        try:
            stacks = self.aws.client("cloudformation").describe_stacks(StackName=self.aws.stack)["Stacks"]
        except ClientError as error:
            if error.response["Error"]["Code"] == "ValidationError":  # CloudFormation's way to say: does not exist
                return None
            raise
        found: Mapping[str, Any] | None = stacks[0] if stacks else None
        return found

    @cached_property
    def parameters(self) -> Mapping[str, str]:
        """Of the last deployment."""
        rows = (self.stack or {}).get("Parameters", ())
        return {row["ParameterKey"]: row.get("ParameterValue", "") for row in rows}

    @property
    def reserves(self) -> bool:
        """Do its workers reserve executions?"""
        return self.parameters.get("ReserveConcurrency") == "true"

    @property
    def production(self) -> bool:
        """Is it run in earnest? Its tag says so (samconfig.toml, section prod), or it reserves executions on AWS."""
        tags = {row["Key"]: row["Value"] for row in (self.stack or {}).get("Tags", ())}
        if tags.get(ENVIRONMENT) in PRODUCTION:
            return True
        return self.reserves and self.parameters.get("Emulator") != "true"

    @cached_property
    def rows(self) -> Mapping[str, TemplateRow]:
        """The template's platforms."""
        if self._rows_given is not None:
            return self._rows_given
        return template_rows(standins=self.parameters.get("StandIns") == "true")

    @cached_property
    def deployed(self) -> tuple[Deployed, ...]:
        """The platforms that have a worker."""
        return self.aws.platforms()

    @property
    def workers(self) -> Iterable[Deployed | TemplateRow]:
        """Those that are deployed; before the first deployment those that will be."""
        return self.deployed if self.stack is not None else self.rows.values()

    @cached_property
    def catalogue(self) -> Catalogue | None:
        """The one in force; None: nothing has been pushed."""
        store = S3CatalogueStore(s3=self.aws.client("s3"), bucket=self.aws.output("DataBucket"))

        async def read() -> Catalogue | None:
            version = await store.current()
            return None if version is None else await store.load(version)

        return asyncio.run(read())

    @cached_property
    def resources(self) -> list[tuple[str, str]]:
        """Type and physical name of every resource, those of nested stacks included."""
        client = self.aws.client("cloudformation")
        found: list[tuple[str, str]] = []
        stacks = [self.aws.stack]
        while stacks:
            pages = client.get_paginator("list_stack_resources").paginate(StackName=stacks.pop())
            for page in pages:
                for row in page["StackResourceSummaries"]:
                    name = str(row.get("PhysicalResourceId", ""))
                    found.append((row["ResourceType"], name))
                    if row["ResourceType"] == NESTED and name:
                        stacks.append(name)
        return found

    @property
    def stacks(self) -> list[str]:
        """The stack and those that are nested in it."""
        return [self.aws.stack, *(name for kind, name in self.resources if kind == NESTED and name)]


def names_of(names: Iterable[str]) -> str:
    """Some of them, and how many more."""
    given = list(names)
    more = f" and {len(given) - NAMES_SHOWN} more" if len(given) > NAMES_SHOWN else ""
    return ", ".join(given[:NAMES_SHOWN]) + more
