"""Can as many functions run at once as the stack's workers may take, and does each hear of its queue?"""

from __future__ import annotations

from collections.abc import Iterator

from brandvane.aws.keys import function_name
from brandvane.cli.checks import Check, fail, ok, warn
from brandvane.cli.stack_facts import StackFacts
from brandvane.cli.view import number

UNRESERVED_LEAST = 100  # Lambda keeps so many for functions that reserve none
# Executions at a time of all functions but workers: planner 2 and a start, dispatcher 2, writeback 4, scanner 2, scorers, reporter.
OTHERS_AT_ONCE = 30
POLLED = ("planner", "writeback", "scanner")


def concurrency(facts: StackFacts) -> Iterator[Check]:
    """Does the account allow as many executions at a time as the workers may take?"""
    limits = facts.aws.client("lambda").get_account_settings()["AccountLimit"]
    allowed = int(limits["ConcurrentExecutions"])
    # What any function has reserved is taken from the others; the stack's own reservations are its workers'.
    free = allowed if facts.reserves else int(limits.get("UnreservedConcurrentExecutions", allowed))
    wanted = sum(worker.invocations for worker in facts.workers) + OTHERS_AT_ONCE
    quota = "ask for more: Service Quotas, Lambda, 'Concurrent executions'"
    taken = "" if free == allowed else f" ({allowed - free:,} of them are reserved already)"
    said = f"the account allows {allowed:,} executions at a time{taken}, all functions together take up to {wanted:,}"
    yield ok("concurrency", said) if free >= wanted else fail("concurrency", said, quota)
    reserved = sum(row.reserved for row in facts.rows.values())
    if facts.reserves or not reserved:
        return
    if free - reserved >= UNRESERVED_LEAST:
        yield ok("concurrency", f"ReserveConcurrency=true is possible: it takes {reserved:,} of {free:,}")
    else:
        yield warn(
            "concurrency",
            f"ReserveConcurrency=true is not possible: of {free:,} it takes {reserved:,}, and "
            f"{UNRESERVED_LEAST} must stay unreserved",
            f"leave it false (the default), or {quota}",
        )


def reserved(facts: StackFacts) -> Iterator[Check]:
    """Has each worker reserved what the template says, and more than its pollers use?"""
    if facts.aws.endpoint is not None:
        yield ok("reserved", "not looked at: an emulator reserves nothing")
        return
    client, wrong = facts.aws.client("lambda"), 0
    for worker in facts.deployed:
        name = function_name(facts.aws.stack, f"worker-{worker.platform}")
        found = client.get_function_concurrency(FunctionName=name).get("ReservedConcurrentExecutions")
        row = facts.rows.get(worker.platform)
        stated = row.reserved if row is not None and facts.reserves else None
        if found is not None and found <= worker.invocations:
            wrong += 1
            yield fail(
                "reserved",
                f"{name} has {found} executions reserved and pollers that use {worker.invocations}: "
                "healthy messages will end among the dead letters",
                "raise Reserved above Invocations in Mappings.Platforms and deploy",
            )
        elif row is not None and found != stated:
            wrong += 1
            yield warn(
                "reserved", f"{name} has {_or_none(found)} reserved, the template says {_or_none(stated)}", "deploy"
            )
    if not wrong:
        how = "as the template says" if facts.reserves else "nothing, as ReserveConcurrency=false says"
        yield ok("reserved", f"{number(len(facts.deployed), 'worker')} reserve {how}")


def sources(facts: StackFacts) -> Iterator[Check]:
    """Does every function that a queue wakes really hear of it?"""
    most = {f"worker-{worker.platform}": worker.invocations for worker in facts.deployed}
    wrong = 0
    for function in (*most, *POLLED):
        name = function_name(facts.aws.stack, function)
        found = facts.aws.client("lambda").list_event_source_mappings(FunctionName=name)["EventSourceMappings"]
        limit = (found[0].get("ScalingConfig") or {}).get("MaximumConcurrency") if found else None
        off = [each for each in found if each.get("State") not in ("Enabled", "Enabling", "Updating", "Creating")]
        if not found:
            wrong += 1
            yield fail("sources", f"nothing wakes {name}: its event source mapping is gone", "deploy")
        elif off:
            wrong += 1
            uuid = off[0].get("UUID", "")
            yield fail(
                "sources",
                f"the event source mapping of {name} is {off[0].get('State', 'unknown')}: its queue is not consumed",
                f"aws lambda update-event-source-mapping --uuid {uuid} --enabled",
            )
        elif function in most and limit is not None and int(limit) != most[function]:
            wrong += 1
            yield warn("sources", f"{name} may run {limit} times at once, the template says {most[function]}", "deploy")
    if not wrong:
        yield ok("sources", f"{number(len(most) + len(POLLED), 'function')} listen to their queues")


def _or_none(count: int | None) -> str:
    return "none" if count is None else str(count)
