"""Does every platform that a catalogue asks have a deployed worker, and if not, what must be added to the template?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from brandvane.catalogue import Catalogue, PlatformSettings
from brandvane.catalogue_files.faults import Fault, Findings
from brandvane.platforms.registry import MONITOR_FILE, platform_rows, resolve
from brandvane.ports import Deployed

# DESIGN §7: limiter wait, hold of an early message, write-back and reserve come on top of the call.
FUNCTION_OVERHEAD_S = 20 + 5 + 15 + 20
BATCH_MAX = 10
INVOCATIONS_MIN = 2  # the least that an event source's MaximumConcurrency can be


def deployment_findings(
    catalogue: Catalogue, deployed: Sequence[Deployed], rows: Mapping[str, int]
) -> tuple[tuple[Fault, ...], tuple[Fault, ...]]:
    """Faults (a platform without a worker) and warnings (a worker that does not fit the platform's settings)."""
    findings = Findings()
    workers = {worker.platform: worker for worker in deployed}
    for platform in catalogue.monitor.platforms:
        worker = workers.get(platform.name)
        row = rows.get(platform.name)
        if worker is None:
            findings.fault(
                MONITOR_FILE,
                "the platform has no deployed worker",
                _lines_to_add(platform),
                row=row,
                field="platforms",
                value=platform.name,
            )
        else:
            _fit(platform, worker, row, findings)
    return findings.faults, findings.warnings


def _lines_to_add(platform: PlatformSettings) -> str:
    """The template has a row for every platform that the product knows; only the name is to be added, if the numbers are the same."""
    logical, line = template_lines(platform)
    if platform.name in platform_rows() and template_lines(resolve(platform.name, {})) == (logical, line):
        return f"Add '{logical}' to the list of Fn::ForEach::Platform in template.yaml and deploy (its row of Mappings is there)"
    return (
        f"Add two lines to template.yaml and deploy: '{logical}' in the list of Fn::ForEach::Platform, "
        f"and in Mappings.Platforms '{line}'"
    )


def _fit(platform: PlatformSettings, worker: Deployed, row: int | None, findings: Findings) -> None:
    if worker.slots > max(platform.in_flight, INVOCATIONS_MIN):
        findings.warn(
            MONITOR_FILE,
            f"its worker can hold {worker.slots} calls open, and the platform allows {platform.in_flight}",
            "Lower Invocations or BatchSize in the template, or raise in_flight if the account has more",
            row=row,
            field="platforms",
            value=platform.name,
        )
    asked = platform.origins.get("call_timeout_s") == MONITOR_FILE
    if asked and platform.call_timeout_s > worker.call_timeout:
        findings.warn(
            MONITOR_FILE,
            f"its worker ends calls after {worker.call_timeout} s, before the {platform.call_timeout_s:g} s given here",
            "Raise CallTimeout (and FunctionTimeout) in the template",
            row=row,
            field=f"platforms.{platform.name}.call_timeout_s",
        )


def template_lines(platform: PlatformSettings) -> tuple[str, str]:
    """The platform's logical name, and its row of ``Mappings.Platforms`` as text (numbers by DESIGN §4.3 and §7)."""
    logical = "".join(part.capitalize() for part in platform.name.split("-"))
    batch = max(1, min(BATCH_MAX, platform.in_flight // INVOCATIONS_MIN))
    invocations = max(INVOCATIONS_MIN, platform.in_flight // batch)
    timeout = round(platform.call_timeout_s)
    function_timeout = max(timeout + FUNCTION_OVERHEAD_S, 150)
    columns = {
        "Name": platform.name,
        "Invocations": invocations,
        "Reserved": invocations + max(2, invocations // 4),
        "BatchSize": batch,
        "CallTimeout": timeout,
        "FunctionTimeout": function_timeout,
        "Visibility": 6 * function_timeout,
    }
    return logical, f"{logical}: {{{', '.join(f'{key}: {value}' for key, value in columns.items())}}}"
