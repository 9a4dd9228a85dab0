"""What only DynamoDB can show: write units, attributes this code does not know, and what stands in the items."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from brandvane import moves
from brandvane.aws.client import Clients
from brandvane.aws.control_store import DynamoControlStore
from brandvane.aws.keys import Tables
from brandvane.aws.result_store import DynamoResultStore
from brandvane.aws.run_store import DynamoRunStore
from brandvane.aws.task_store import DynamoTaskStore
from brandvane.control import Control
from brandvane.result import row_of
from brandvane.run import RunState
from brandvane.task import RECORD_VERSION, Outcome, State, bucket_of
from contract.metered import MeteredClients
from contract.samples import CHANGES, NOW, row, run, task
from contract.worlds import unique
from emulator import clients_for, create_tables, unique_stack

pytestmark = pytest.mark.emulator


@dataclass(frozen=True, slots=True)
class Dynamo:
    """Clients and tables of an emulator."""

    clients: Clients
    tables: Tables

    async def item(self, table: str, **key: str) -> dict[str, Any]:
        """An item as it is stored."""
        wanted: Any = {name: {"S": value} for name, value in key.items()}
        reply = await self.clients.call(self.clients.dynamodb.get_item, TableName=table, Key=wanted)
        return dict(reply.get("Item", {}))

    async def put(self, table: str, item: dict[str, Any]) -> None:
        """Store an item as it is."""
        await self.clients.call(self.clients.dynamodb.put_item, TableName=table, Item=item)


@pytest.fixture(scope="module")
def dynamo(emulator_endpoint: str) -> Dynamo:
    clients = clients_for(emulator_endpoint)
    return Dynamo(clients, create_tables(clients, unique_stack()))


async def test_a_whole_happy_life_costs_eighteen_write_units(dynamo: Dynamo) -> None:
    clients = MeteredClients(dynamo.clients)
    tasks = DynamoTaskStore(clients=clients, tables=dynamo.tables)
    results = DynamoResultStore(clients=clients, tables=dynamo.tables, keep_days=30)
    planned = task(State.PENDING, dispatch_no=1, attempt_id="a" * 24)
    platform, answer = planned.platform, bytes(200)  # a short answer: the record stays below 1 KB

    await tasks.create([planned])
    await tasks.move(planned.task_id, moves.dispatched(platform, 1, NOW + 10, NOW))
    claimed = (await tasks.move(planned.task_id, moves.claim(platform, 1, "b" * 24, NOW))).task
    assert claimed is not None
    running = (await tasks.move(planned.task_id, moves.begin(claimed, 75, 3, NOW))).task
    assert running is not None
    safe = moves.answered(running, Outcome.OK, NOW, answer=answer, answer_key=None)
    answered = (await tasks.move(planned.task_id, safe)).task
    assert answered is not None
    assert await results.put(row_of(answered, NOW))
    done = (await tasks.move(planned.task_id, moves.finished(answered, NOW, 86_400))).task
    assert done is not None
    assert done.state is State.DONE

    # (table, index): a move writes the record once and the index twice, for the entry leaves one partition for another.
    assert clients.spent == [
        (1, 1),  # planned: new entry
        (1, 2),  # dispatched
        (1, 2),  # claimed
        (1, 2),  # begun
        (1, 2),  # answer safe
        (1, 1),  # result row and its entry in the index by run
        (1, 1),  # finished: the entry is gone
    ]
    assert sum(table + index for table, index in clients.spent) == 18


async def test_a_move_keeps_attributes_that_newer_code_has_added(dynamo: Dynamo) -> None:
    tasks = DynamoTaskStore(clients=dynamo.clients, tables=dynamo.tables)
    planned = task(State.PENDING)
    await tasks.create([planned])
    item = await dynamo.item(dynamo.tables.tasks, task_id=planned.task_id)
    await dynamo.put(dynamo.tables.tasks, {**item, "novelty": {"S": "kept"}})
    assert await tasks.get(planned.task_id) == planned
    await tasks.move(planned.task_id, CHANGES["claim"](planned))
    assert (await dynamo.item(dynamo.tables.tasks, task_id=planned.task_id))["novelty"] == {"S": "kept"}


async def test_a_record_of_a_newer_version_is_read_as_far_as_it_can_be(dynamo: Dynamo) -> None:
    tasks = DynamoTaskStore(clients=dynamo.clients, tables=dynamo.tables)
    planned = task(State.FAILED)
    await tasks.create([planned])
    item = await dynamo.item(dynamo.tables.tasks, task_id=planned.task_id)
    newer = {**item, "v": {"N": str(RECORD_VERSION + 1)}, "outcome": {"S": "abducted"}, "novelty": {"BOOL": True}}
    await dynamo.put(dynamo.tables.tasks, newer)
    read = await tasks.get(planned.task_id)
    assert read is not None
    assert (read.v, read.outcome, read.task_id) == (RECORD_VERSION + 1, "abducted", planned.task_id)


async def test_watch_entries_of_a_newer_version_are_left_to_newer_code(dynamo: Dynamo) -> None:
    tasks = DynamoTaskStore(clients=dynamo.clients, tables=dynamo.tables)
    first = task(State.RUNNING, v=RECORD_VERSION + 1)
    second = replace(first, task_id=f"00{first.task_id}", act_at=NOW, v=RECORD_VERSION)
    await tasks.create([first, second])
    assert [entry.task_id for entry in await tasks.due(first.watch or "", NOW, 1)] == [second.task_id]


async def test_an_open_record_never_has_an_expiry_and_a_finished_one_does(dynamo: Dynamo) -> None:
    tasks = DynamoTaskStore(clients=dynamo.clients, tables=dynamo.tables)
    waiting = task(State.WRITEBACK)
    await tasks.create([waiting])
    before = await dynamo.item(dynamo.tables.tasks, task_id=waiting.task_id)
    await tasks.move(waiting.task_id, CHANGES["finish"](waiting))
    after = await dynamo.item(dynamo.tables.tasks, task_id=waiting.task_id)
    assert {"expires_at"} & before.keys() == set()
    assert {"watch", "act_at", "answer", "answer_key"} & after.keys() == set()
    assert after["expires_at"] == {"N": "1760086400"}  # whole seconds: NOW and a day


async def test_a_row_carries_its_expiry_and_its_index_key(dynamo: Dynamo) -> None:
    results = DynamoResultStore(clients=dynamo.clients, tables=dynamo.tables, keep_days=30)
    put = row()
    await results.put(put)
    item = await dynamo.item(dynamo.tables.results, pk=put.pk, sk=put.sk)
    assert (item["run"], item["expires_at"]) == ({"S": put.run_id}, {"N": str(1_760_000_000 + 30 * 86_400)})


async def test_history_keeps_what_newer_code_has_added_and_is_not_indexed(dynamo: Dynamo) -> None:
    results = DynamoResultStore(clients=dynamo.clients, tables=dynamo.tables, keep_days=30)
    first = row()
    await results.put(first)
    item = await dynamo.item(dynamo.tables.results, pk=first.pk, sk=first.sk)
    await dynamo.put(dynamo.tables.results, {**item, "novelty": {"S": "kept"}})
    await results.put(replace(first, round=2, attempt_id="attempt-7"))
    bucket = bucket_of(first.prompt_hash)
    old = await dynamo.item(
        dynamo.tables.results,
        pk=f"history#{first.run_id}#{bucket:02d}",
        sk=f"1#{first.target}#{first.prompt_hash}#en#0",
    )
    assert old["novelty"] == {"S": "kept"}
    assert "run" not in old


async def test_an_item_with_an_attribute_of_the_wrong_kind_says_which(dynamo: Dynamo) -> None:
    tasks = DynamoTaskStore(clients=dynamo.clients, tables=dynamo.tables)
    planned = task(State.PENDING)
    await tasks.create([planned])
    item = await dynamo.item(dynamo.tables.tasks, task_id=planned.task_id)
    await dynamo.put(dynamo.tables.tasks, {**item, "state": {"S": "LIMBO"}})
    with pytest.raises(Exception, match=r"Task: attribute 'state' is .*LIMBO"):
        await tasks.get(planned.task_id)


async def test_a_run_leaves_the_index_of_open_runs_when_nobody_need_act(dynamo: Dynamo) -> None:
    runs = DynamoRunStore(clients=dynamo.clients, tables=dynamo.tables)
    of = run()
    await runs.create(of)
    assert (await dynamo.item(dynamo.tables.runs, run_id=of.run_id))["open"] == {"S": "open"}
    await runs.change(of.run_id, {"state": RunState.OPEN}, {"state": RunState.REPORTED})
    item = await dynamo.item(dynamo.tables.runs, run_id=of.run_id)
    assert "open" not in item
    assert item["kind"] == {"S": "run"}


async def test_a_requirement_of_a_default_holds_on_a_run_that_older_code_wrote(dynamo: Dynamo) -> None:
    runs = DynamoRunStore(clients=dynamo.clients, tables=dynamo.tables)
    of = run()
    await runs.create(of)
    item = await dynamo.item(dynamo.tables.runs, run_id=of.run_id)
    del item["step_until"]
    await dynamo.put(dynamo.tables.runs, item)
    assert await runs.change(of.run_id, {"step_until": 0.0}, {"step_until": NOW}) == replace(of, step_until=NOW)


async def test_replacing_a_control_item_keeps_what_newer_code_has_added(dynamo: Dynamo) -> None:
    control = DynamoControlStore(clients=dynamo.clients, tables=dynamo.tables)
    fresh = Control(unique("platform"))
    assert await control.replace(fresh, replace(fresh, epoch=1)) is None
    item = await dynamo.item(dynamo.tables.control, id=f"platform#{fresh.platform}")
    await dynamo.put(dynamo.tables.control, {**item, "novelty": {"S": "kept"}})
    there = await control.read(fresh.platform)
    assert await control.replace(there, replace(there, epoch=2)) is None
    assert (await dynamo.item(dynamo.tables.control, id=f"platform#{fresh.platform}"))["novelty"] == {"S": "kept"}
