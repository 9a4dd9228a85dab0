"""Is what the product's own command complained of passed on in words?"""

from __future__ import annotations

import json

from brandvane.cli.local_product import complaint_of


def test_faults_come_as_sentences_that_name_the_file() -> None:
    fault = {"file": "monitor.yaml", "message": "unknown platform", "remedy": "Name another", "row": 3, "value": "mine"}
    printed = json.dumps({"ok": False, "faults": [fault], "warnings": []})
    assert complaint_of(printed, "") == "monitor.yaml, row 3: 'mine': unknown platform. Name another."


def test_anything_else_is_passed_on_as_it_was_said() -> None:
    assert complaint_of("", "brandvane: there is no stack\n") == "there is no stack"
    assert complaint_of("", "") == "it said nothing"
