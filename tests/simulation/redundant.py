"""Which conditions of the moves table follow from the others? Each with its proof; nothing that chaos does can find them missing.

Facts that the proofs use; the auditor checks the first two at every move:

A. *act_at names one write.* Every move sets ``act_at`` anew, from its mover's clock, and never to the value that the record had. So
   while ``act_at`` is what somebody read, nothing has happened to the record since.
B. *attempt_id names one claim.* It is fresh with every claim and every operator's retry, and changes at no other time.
C. *The scanner looks first.* It acts on a record, read consistently, only when its ``act_at`` is 2 s past by the same clock reading
   that the move then carries (``Rescuer.act``).
D. *FAILED is left by one move only*, the operator's retry, which raises ``round``; the operator read the record as FAILED.
"""

from __future__ import annotations

from collections.abc import Mapping

BY_ACT_AT = "the move carries act_at as it was read: by A the record is as it was read, this field included"
BY_LOOK = "by C act_at as read was 2 s past, and the move carries act_at as read: it still is"
BY_OVERDUE = "whatever else changes act_at in this state and attempt puts it into the future, where 'overdue' refuses"
BY_ROUND = "by D the round is as it was read only while the record is FAILED in it"

PROOFS: Mapping[str, str] = {
    "resend without state": BY_ACT_AT,
    "resend without act_at": "DISPATCHED again under the same dispatch_no means a new message, due now or later: "
    + BY_OVERDUE,
    "resend without overdue": BY_LOOK,
    "give_back without state": BY_ACT_AT,
    "give_back without attempt_id": BY_ACT_AT,
    "give_back without act_at": "by B it is the same claim, and nothing changes act_at between claim and begin",
    "give_back without overdue": BY_LOOK,
    "rescue without state": BY_ACT_AT,
    "rescue without attempt_id": BY_ACT_AT,
    "rescue without act_at": "by B it is the same attempt, whose act_at only heartbeats and extensions change: "
    + BY_OVERDUE,
    "rescue without overdue": BY_LOOK,
    "extend without state": BY_ACT_AT,
    "extend without act_at": "as for rescue: " + BY_OVERDUE,
    "extend without overdue": BY_LOOK,
    "end without state": BY_ACT_AT,
    "end without act_at": "every move sets act_at to its mover's clock or later, so what was written after the scanner's look "
    "is not 2 s past by that look's clock, which the move carries: 'overdue' refuses",
    "end without overdue": BY_LOOK,
    "end_final without state": BY_ACT_AT,
    "defer without state": BY_ACT_AT,
    "retry_failed without state": BY_ROUND,
}
