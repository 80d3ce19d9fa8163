#!/usr/bin/env python3
"""The checker of torture.py finds each kind of wrong history, and nothing in right ones."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import torture  # noqa: E402

FORWARD = ["reserve", "pay", "pack", "once", "last"]


def forward(*steps):
    return [(what, False, step, f"key-{step}", "-") for step in steps for what in ("begin", "end")]


def undo(*steps):
    return [(what, True, step, f"undo-{step}", f"key-{step}") for step in steps for what in ("begin", "end")]


def faults(status, lines, will_fail=False):
    return torture.faults_of({"id": "i", "status": status}, list(enumerate(lines)), will_fail)


class Checker(unittest.TestCase):
    def expect(self, sentence, found):
        self.assertTrue(any(sentence in fault for fault in found), found)

    def test_right_histories(self):
        self.assertEqual(faults("completed", forward(*FORWARD)), [])
        undone = undo("once", "pack", "pay", "reserve")
        self.assertEqual(faults("failed", forward(*FORWARD) + undone, True), [])
        self.assertEqual(faults("failed", forward("reserve", "pay") + undo("pay", "reserve")), [])
        # An attempt that its worker's death repeated.
        self.assertEqual(faults("completed", forward("reserve")[:1] + forward(*FORWARD)), [])

    def test_a_saga_that_never_ended(self):
        self.expect("did not end", faults("running", forward("reserve")))

    def test_a_lost_step(self):
        self.expect("pack never ended", faults("completed", forward("reserve", "pay", "once", "last")))

    def test_a_step_without_its_undo(self):
        lines = forward(*FORWARD) + undo("once", "pack", "reserve")
        self.expect("pay began and was never undone", faults("failed", lines, True))

    def test_an_undo_of_a_completed_saga(self):
        self.expect("pay was undone", faults("completed", forward(*FORWARD) + undo("pay")))

    def test_a_wrong_order(self):
        lines = forward("reserve", "pay", "once", "pack", "last")
        self.expect("once began before pack had ended", faults("completed", lines))
        lines = forward(*FORWARD) + undo("once", "reserve", "pack", "pay")
        self.expect("the undo of reserve began before that of pay had ended", faults("failed", lines, True))

    def test_a_second_call_of_a_non_idempotent_step(self):
        lines = forward("reserve", "pay", "pack", "once", "once", "last")
        self.expect("more than once", faults("completed", lines))

    def test_two_keys_of_one_step(self):
        lines = forward(*FORWARD) + [("begin", False, "pay", "another", "-")]
        self.expect("pay used 2 idempotency keys", faults("completed", lines))

    def test_an_undo_with_the_key_of_another_step(self):
        lines = forward(*FORWARD) + undo("once", "pack", "reserve")
        lines += [(what, True, "pay", "undo-pay", "key-pack") for what in ("begin", "end")]
        self.expect("the undo of pay got another key", faults("failed", lines, True))

    def test_a_saga_that_completed_although_it_fails(self):
        self.expect("although its last step fails", faults("completed", forward(*FORWARD), True))


if __name__ == "__main__":
    unittest.main()
