"""Rehearsals, request by request: cases for api_test.py."""


class RehearsalCases:
    """The operation /workflows/rehearse."""

    REHEARSED = """
workflow: trip
steps:
  - step: reserve
    compensate: release
  - step: charge
    compensate: refund
    max_attempts: 2
  - decision: approve
    roles: [boss]
"""

    def rehearse(self, **members):
        return self.api.post("/workflows/rehearse", {"definition": self.REHEARSED, **members})

    def test_rehearses_without_keeping(self):
        done = self.rehearse(input={"n": 1}).json()
        self.assertEqual((done["status"], done["left"], done["is_cut"]), ("completed", [], False))
        broken = self.rehearse(outcomes={"approve": {"outcome": "fail_for_good"}}).json()
        self.assertEqual(broken["status"], "failed")
        undone = [event["node"] for event in broken["events"] if event["type"] == "step_compensated"]
        self.assertEqual(undone, ["charge", "reserve"])
        late = self.rehearse(outcomes={"approve": {"outcome": "never"}}).json()
        self.assertEqual((late["status"], late["waiting_for"][0]["node"]), ("running", "approve"))
        self.problem(self.api.get("/workflows/trip"), 404, "workflow_not_found")

    def test_rehearses_with_a_sample_of_the_definition(self):
        definition = ("workflow: small\nsamples:\n  two: {n: 2}\nsteps:\n"
            "  - step: double\n    input: \"${ workflow.input.n * 2 }\"\n")
        done = self.api.post("/workflows/rehearse", {"definition": definition, "sample": "two"}).json()
        self.assertEqual((done["status"], done["output"]), ("completed", 4))
        as_json = {"workflow": "small", "samples": {"two": {"n": 2}}, "steps": ["double"]}
        done = self.api.post("/workflows/rehearse", {"definition": as_json, "sample": "two"}).json()
        self.assertEqual(done["output"], {"n": 2})
        for members in ({"sample": "tow"}, {"sample": "two", "input": {}}):
            self.problem(self.api.post("/workflows/rehearse", {"definition": definition, **members}),
                400, "invalid_argument")

    def test_refuses_rehearsals_that_make_no_sense(self):
        self.problem(self.rehearse(outcomes={"chrage": {}}), 400, "invalid_argument")
        self.problem(self.rehearse(outcomes={"approve": {"outcome": "fail"}}), 400, "invalid_argument")
        self.problem(self.rehearse(outcomes={"charge": {"outcome": "explode"}}), 400,
            "invalid_argument")
        self.problem(self.rehearse(outcomes={"charge": {"takes": "5x"}}), 400, "invalid_argument")
        self.problem(self.rehearse(outcomes={"charge": {"outcom": "fail"}}), 400, "unknown_field")
        self.problem(self.rehearse(compensations={"approve": {}}), 400, "invalid_argument")
        broken = {"definition": "workflow: x\nsteps: [{nam: a}]"}
        self.problem(self.api.post("/workflows/rehearse", broken), 422, "invalid_definition")
        self.problem(self.api.post("/workflows/rehearse", {}), 400, "invalid_argument")
