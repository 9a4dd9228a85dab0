"""Does the dashboard show what is published, whatever platforms there are, and do the saved queries ask for fields that lines have?"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from brandvane.metrics import METRICS, VENDED

Resources = dict[str, dict[str, Any]]

PLATFORM_SEARCH = re.compile(
    r"SEARCH\('\{Brandvane,Stack,Platform\} MetricName=\"(\w+)\" Stack=\"bv-prod\"', '\w+', 60\)"
)
VENDED_SEARCH = re.compile(r"SEARCH\('\{(AWS/\w+),(\w+)\} MetricName=\"(\w+)\" ([^']+)', '\w+', 60\)")
QUERIES = {"success-by-brand", "retry-distribution", "slowest-questions", "costliest-platforms"}
ADDED_BY_POWERTOOLS = {"message", "level", "service", "timestamp", "location"}


@pytest.fixture(scope="module")
def written(root: Path, read_template: Callable[[Path], dict[str, Any]]) -> dict[str, Any]:
    """infra/dashboard.yaml."""
    return read_template(root / "infra" / "dashboard.yaml")


@pytest.fixture(scope="module")
def resources_of(written: dict[str, Any], process_template: Callable[..., Resources]) -> Callable[..., Resources]:
    """Its resources, for a stack of two words where none is named."""

    def under(emulator: str = "false", stack: str = "bv-prod") -> Resources:
        given = {**written, "Mappings": {}}
        given["Parameters"] = {name: {"Default": "", **each} for name, each in written["Parameters"].items()}
        return process_template(
            given, {"Stack": stack, "RunbookUrl": "https://example.com/runbook.md", "Emulator": emulator}
        )

    return under


def widgets_in(resources: Resources) -> list[dict[str, Any]]:
    """The dashboard's widgets, with CloudFormation's variables put in."""
    body = resources["Dashboard"]["Properties"]["DashboardBody"]
    found: list[dict[str, Any]] = json.loads(body.replace("${!", "${"))["widgets"]
    return found


@pytest.fixture(scope="module")
def widgets(resources_of: Callable[..., Resources]) -> list[dict[str, Any]]:
    """Those of the stack of two words."""
    return widgets_in(resources_of())


@pytest.fixture(scope="module")
def metrics(widgets: list[dict[str, Any]]) -> list[list[Any]]:
    """Every line of every graph."""
    return [line for widget in widgets for line in widget["properties"].get("metrics", ())]


def test_every_line_is_a_published_metric_with_its_own_dimensions(metrics: list[list[Any]]) -> None:
    for line in metrics:
        if isinstance(line[0], str):
            namespace, name, dimension, value, _ = line
            assert (namespace, dimension, value) == ("Brandvane", "Stack", "bv-prod")
            assert METRICS[name].on_stack, name
            continue
        expression = line[0]["expression"].removeprefix("SUM(")
        ours = PLATFORM_SEARCH.match(expression)
        if ours:
            assert METRICS[ours[1]].on_platform, expression
        else:
            aws = VENDED_SEARCH.match(expression)
            assert aws, expression
            assert (aws[1], aws[3], aws[2]) in {(each.namespace, each.name, each.dimension) for each in VENDED}


# ------------------------------------------------------------------------- what a search over AWS's own metrics finds
def words(name: str) -> list[str]:
    """How CloudWatch cuts a name (user guide, "Search expression syntax"): at signs, capitals and numbers."""
    return re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)


def meets(term: str, name: str) -> bool:
    """A quoted term is the whole name; the words of another follow each other in it."""
    if term.startswith('"'):
        return term.strip('"') == name
    asked, there = words(term), words(name)
    return any(there[at : at + len(asked)] == asked for at in range(len(there)))


def found(search: str, names: set[str]) -> set[str]:
    """Names that meet ``A``, ``(A OR B)`` or ``A NOT C``."""
    wanted, _, unwanted = search.partition(" NOT ")
    terms = wanted.strip("()").split(" OR ")
    return {
        name for name in names if any(meets(term, name) for term in terms) and not (unwanted and meets(unwanted, name))
    }


@pytest.fixture(scope="module")
def searches(resources_of: Callable[..., Resources]) -> dict[str, str]:
    """What is asked of AWS's own metrics for a stack called ``stack``, by metric."""
    body = json.dumps(widgets_in(resources_of(stack="stack"))).replace('\\"', '"')
    return {name: search for _, _, name, search in VENDED_SEARCH.findall(body)}


@pytest.fixture(scope="module")
def names(processed: Callable[..., Resources]) -> dict[str, set[str]]:
    """Names of that stack's functions, with a chat to tell, and queues."""
    resources = processed(SlackWebhook="/bv/slack").values()
    return {
        "functions": {r["Properties"]["FunctionName"] for r in resources if r["Type"] == "AWS::Serverless::Function"},
        "queues": {r["Properties"]["QueueName"] for r in resources if r["Type"] == "AWS::SQS::Queue"},
    }


@pytest.mark.parametrize("metric", ["Errors", "Throttles"])
def test_every_function_of_the_stack_is_shown(
    searches: dict[str, str], names: dict[str, set[str]], metric: str
) -> None:
    assert found(searches[metric], names["functions"]) == names["functions"]


def test_the_messages_of_the_platforms_queues_and_dead_letters_are_shown(
    searches: dict[str, str], names: dict[str, set[str]]
) -> None:
    calls = {name for name in names["queues"] if name.startswith("stack-calls-")}
    assert found(searches["ApproximateNumberOfMessagesVisible"], names["queues"]) == calls


def test_the_age_of_the_oldest_message_is_shown_of_queues_that_somebody_takes_from(
    searches: dict[str, str], names: dict[str, set[str]]
) -> None:
    expected = {"stack-calls-openai", "stack-calls-hunyuan", "stack-calls-deepseek"}
    assert found(searches["ApproximateAgeOfOldestMessage"], names["queues"]) == expected


@pytest.mark.parametrize("neighbour", ["stack-prod", "stack2", "stacks"])
def test_nothing_is_shown_of_a_stack_whose_name_begins_with_this_ones(
    searches: dict[str, str], names: dict[str, set[str]], neighbour: str
) -> None:
    theirs = {name.replace("stack", neighbour, 1) for kind in names.values() for name in kind}
    assert {metric: shown for metric, search in searches.items() if (shown := found(search, theirs))} == {}


def test_what_is_published_is_shown(metrics: list[list[Any]]) -> None:
    text = json.dumps(metrics)
    missing = {
        name for name, metric in METRICS.items() if not metric.by_workers and not re.search(rf"\b{name}\b", text)
    }
    assert missing == set()


def test_no_platform_is_named_so_that_adding_one_changes_nothing(root: Path, source: dict[str, Any]) -> None:
    text = (root / "infra" / "dashboard.yaml").read_text(encoding="utf-8").lower()
    names = {name.lower() for name in source["Mappings"]["Platforms"]}
    assert [name for name in names if name in text] == []


def test_widgets_fill_rows_and_cover_nothing(widgets: list[dict[str, Any]]) -> None:
    cells: set[tuple[int, int]] = set()
    for widget in widgets:
        own = {
            (x, y)
            for x in range(widget["x"], widget["x"] + widget["width"])
            for y in range(widget["y"], widget["y"] + widget["height"])
        }
        assert not own & cells, widget["properties"].get("title")
        cells |= own
    height = max(y for _, y in cells) + 1
    assert cells == {(x, y) for x in range(24) for y in range(height)}


def queries(resources: Resources, widgets: list[dict[str, Any]]) -> Iterator[str]:
    """Saved ones and those of widgets."""
    yield from (r["Properties"]["QueryString"] for r in resources.values() if r["Type"] == "AWS::Logs::QueryDefinition")
    yield from (widget["properties"]["query"] for widget in widgets if widget["type"] == "log")


def test_the_four_queries_are_saved_on_aws_and_none_on_the_emulator(resources_of: Callable[..., Resources]) -> None:
    saved = [r["Properties"]["Name"] for r in resources_of().values() if r["Type"] == "AWS::Logs::QueryDefinition"]
    assert set(saved) == {f"bv-prod/{name}" for name in QUERIES}
    assert set(resources_of("true")) == {"Dashboard"}


def test_queries_read_the_lines_of_calls_and_widgets_find_the_workers_logs_whichever_there_are(
    resources_of: Callable[..., Resources], widgets: list[dict[str, Any]]
) -> None:
    asked = list(queries(resources_of(), widgets))
    assert len(asked) == 7
    assert all('filter message = "call"' in query for query in asked)
    found = [widget["properties"]["query"] for widget in widgets if widget["type"] == "log"]
    prefix = "SOURCE logGroups(namePrefix: ['/aws/lambda/bv-prod-worker-']) | "
    assert [query for query in found if not query.startswith(prefix)] == []


def test_queries_ask_for_fields_that_the_line_of_a_call_has(
    root: Path, resources_of: Callable[..., Resources], widgets: list[dict[str, Any]]
) -> None:
    tree = ast.parse((root / "functions" / "brandvane" / "engine" / "call.py").read_text(encoding="utf-8"))
    events = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and node.args[0].value == "call"
    ]
    (event,) = events
    fields = {keyword.arg for keyword in event.keywords} | ADDED_BY_POWERTOOLS
    for query in queries(resources_of(), widgets):
        plain = re.sub(r"\"[^\"]*\"|'[^']*'|SOURCE logGroups\(.*?\)", "", query)
        given = set(re.findall(r"\bas (\w+)", plain))
        words = set(re.findall(r"\b[a-z][a-z_0-9]*\b", plain.replace("question_ids.0", "question_ids")))
        language = {
            "filter",
            "stats",
            "count",
            "as",
            "sum",
            "strcontains",
            "by",
            "sort",
            "asc",
            "desc",
            "pct",
            "max",
            "limit",
        }
        assert words - given - language <= fields, query
