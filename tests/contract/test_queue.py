"""Queues: delay, visibility, receive counts, dead letters, batches, in every world."""

from __future__ import annotations

from brandvane.ports import Delivered, Envelope
from contract.worlds import MAX_RECEIVES, VISIBILITY_S, World

PATIENCE_S = 5.0  # emulators look at their messages a little late


async def bodies(world: World, queue: str, limit: int = 50) -> list[str]:
    return sorted(message.body for message in await world.queue.receive(queue, limit))


async def one(world: World, queue: str) -> Delivered:
    messages = await world.queue.receive(queue, 10)
    assert len(messages) == 1
    return messages[0]


async def comes(world: World, queue: str, after_s: float) -> Delivered:
    """The one message that is to come ``after_s`` from now, or soon after."""
    await world.pass_time(after_s)
    for _ in range(int(PATIENCE_S / 0.25)):
        messages = await world.queue.receive(queue, 10)
        if messages:
            assert len(messages) == 1
            return messages[0]
        await world.pass_time(0.25)
    raise AssertionError(f"no message in {queue} {PATIENCE_S} s after its time")


async def test_what_is_sent_is_received_and_gone_when_deleted(world: World) -> None:
    queue = world.new_queue()
    sent = world.now()
    assert await world.queue.send(queue, [Envelope("e1", '{"text": "甲 & <b>"}')]) == {"e1"}
    message = await one(world, queue)
    assert (message.body, message.receive_count) == ('{"text": "甲 & <b>"}', 1)
    assert abs(message.sent_at - sent) < 60  # it is the time of sending, in seconds
    await world.queue.delete(queue, message.receipt)
    assert await world.queue.depth(queue) == 0


async def test_sending_nothing_confirms_nothing(world: World) -> None:
    assert await world.queue.send(world.new_queue(), []) == frozenset()


async def test_more_than_one_batch_is_sent_and_received_whole(world: World) -> None:
    queue = world.new_queue()
    envelopes = [Envelope(f"id/{number} with spaces", f"body {number:02d}") for number in range(25)]
    assert await world.queue.send(queue, envelopes) == {envelope.id for envelope in envelopes}
    assert await world.queue.depth(queue) == 25
    assert await bodies(world, queue) == [envelope.body for envelope in envelopes]


async def test_large_bodies_are_spread_over_batches(world: World) -> None:
    queue = world.new_queue()
    envelopes = [Envelope(str(number), str(number) * 100_000) for number in range(5)]
    assert await world.queue.send(queue, envelopes) == {"0", "1", "2", "3", "4"}
    assert [len(body) for body in await bodies(world, queue)] == [100_000] * 5


async def test_no_more_is_received_than_asked_for(world: World) -> None:
    queue = world.new_queue()
    await world.queue.send(queue, [Envelope(str(number), str(number)) for number in range(15)])
    assert len(await world.queue.receive(queue, 12)) == 12
    assert len(await world.queue.receive(queue, 12)) == 3


async def test_a_delayed_message_counts_at_once_and_is_received_after_its_delay(world: World) -> None:
    queue = world.new_queue()
    await world.queue.send(queue, [Envelope("now", "now"), Envelope("later", "later", delay_s=2)])
    undelayed = await one(world, queue)
    assert (undelayed.body, await world.queue.depth(queue)) == ("now", 2)
    await world.queue.delete(queue, undelayed.receipt)
    assert (await comes(world, queue, 2)).body == "later"


async def test_a_received_message_is_hidden_and_comes_back_counted(world: World) -> None:
    queue = world.new_queue()
    await world.queue.send(queue, [Envelope("e1", "body")])
    first = await one(world, queue)
    assert await world.queue.receive(queue, 10) == []
    assert await world.queue.depth(queue) == 1
    again = await comes(world, queue, VISIBILITY_S)
    assert (again.message_id, again.body, again.receive_count) == (first.message_id, "body", 2)
    assert again.receipt != first.receipt


async def test_a_message_received_too_often_becomes_a_dead_letter(world: World) -> None:
    queue = world.new_queue()
    await world.queue.send(queue, [Envelope("e1", "poison")])
    for _ in range(MAX_RECEIVES):
        message = await one(world, queue)
        await world.queue.postpone(queue, message.receipt, 0)
    assert await world.queue.receive(queue, 10) == []
    assert await bodies(world, f"{queue}-dead") == ["poison"]
    assert (await world.queue.depth(queue), await world.queue.depth(f"{queue}-dead")) == (0, 1)


async def test_a_postponed_message_comes_back_at_its_new_time(world: World) -> None:
    queue = world.new_queue()
    await world.queue.send(queue, [Envelope("e1", "body")])
    message = await one(world, queue)
    await world.queue.postpone(queue, message.receipt, VISIBILITY_S + 2)
    await world.pass_time(VISIBILITY_S + 0.5)
    assert await world.queue.receive(queue, 10) == []
    assert (await comes(world, queue, 1.5)).receive_count == 2


async def test_a_receipt_that_is_over_deletes_and_postpones_nothing_and_is_no_fault(world: World) -> None:
    queue = world.new_queue()
    await world.queue.send(queue, [Envelope("e1", "body")])
    message = await one(world, queue)
    await world.queue.delete(queue, message.receipt)
    await world.queue.delete(queue, message.receipt)
    await world.queue.postpone(queue, message.receipt, 5)
    assert await world.queue.depth(queue) == 0


async def test_queues_do_not_mix(world: World) -> None:
    one_queue, other = world.new_queue(), world.new_queue()
    await world.queue.send(one_queue, [Envelope("e1", "body")])
    assert await world.queue.receive(other, 10) == []
    assert await world.queue.depth(other) == 0


async def test_of_messages_in_flight_no_more_than_asked_for_are_counted(world: World) -> None:
    queue = world.new_queue()
    await world.queue.send(queue, [Envelope(str(n), str(n)) for n in range(3)])
    await world.queue.receive(queue, 3)
    assert await world.queue.depth(queue) == 3
    assert await world.queue.depth(queue, held_most=1) == 1
