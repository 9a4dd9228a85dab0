"""Does every platform have a worker that fits?"""

from __future__ import annotations

from dataclasses import replace

from brandvane.catalogue_files.deployed import deployment_findings, template_lines
from brandvane.platforms.registry import resolve
from brandvane.ports import Deployed
from unit.catalogue_samples import catalogue

FITTING = Deployed("openai", invocations=10, batch_size=2, call_timeout=60)


def test_a_platform_with_a_fitting_worker_is_right() -> None:
    assert deployment_findings(catalogue(), [FITTING], {}) == ((), ())


def test_a_platform_without_a_worker_is_a_fault_that_names_the_two_template_lines() -> None:
    (fault,), _ = deployment_findings(catalogue(), [replace(FITTING, platform="kimi")], {"openai": 2})
    assert (fault.file, fault.row, fault.field, fault.value) == ("monitor.yaml", 2, "platforms", "openai")
    assert fault.remedy == (
        "Add two lines to template.yaml and deploy: 'Openai' in the list of Fn::ForEach::Platform, and in Mappings.Platforms "
        "'Openai: {Name: openai, Invocations: 2, Reserved: 4, BatchSize: 10, CallTimeout: 60, FunctionTimeout: 150, Visibility: 900}'"
    )


def test_of_a_known_platform_with_its_usual_numbers_only_the_name_is_lacking() -> None:
    found = catalogue()
    usual = replace(found, monitor=replace(found.monitor, platforms=(resolve("gemini", {"rate": 1.0}),)))
    (fault,), _ = deployment_findings(usual, [FITTING], {})
    assert fault.remedy == (
        "Add 'Gemini' to the list of Fn::ForEach::Platform in template.yaml and deploy (its row of Mappings is there)"
    )


def test_the_proposed_rows_are_those_of_the_design() -> None:
    assert template_lines(resolve("openai", {}))[1].startswith(
        "Openai: {Name: openai, Invocations: 20, Reserved: 25, BatchSize: 10, CallTimeout: 60, FunctionTimeout: 150,"
    )
    assert template_lines(resolve("hunyuan", {}))[1].startswith(
        "Hunyuan: {Name: hunyuan, Invocations: 2, Reserved: 4, BatchSize: 2, CallTimeout: 60, FunctionTimeout: 150,"
    )


def test_a_platform_that_allows_one_call_at_a_time_gets_the_least_worker() -> None:
    assert (
        "Invocations: 2, Reserved: 4, BatchSize: 1, CallTimeout: 120, FunctionTimeout: 180, Visibility: 1080"
        in (template_lines(resolve("kimi", {}))[1])
    )


def test_a_worker_that_can_hold_more_calls_than_the_platform_allows_is_a_warning() -> None:
    _, (warning,) = deployment_findings(catalogue(), [replace(FITTING, invocations=11)], {})
    assert warning.message == "its worker can hold 22 calls open, and the platform allows 20"


def test_a_call_timeout_that_the_monitor_asks_for_and_the_worker_cuts_is_a_warning() -> None:
    found = catalogue()
    (openai,) = found.monitor.platforms
    asked = replace(openai, call_timeout_s=90.0, origins={"call_timeout_s": "monitor.yaml"})
    slow = replace(found, monitor=replace(found.monitor, platforms=(asked,)))
    _, (warning,) = deployment_findings(slow, [FITTING], {})
    assert warning.message == "its worker ends calls after 60 s, before the 90 s given here"
    usual = replace(found, monitor=replace(found.monitor, platforms=(replace(asked, origins={}),)))
    assert deployment_findings(usual, [FITTING], {})[1] == ()
