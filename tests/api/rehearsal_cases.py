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

    EVALUATED = ("workflow: small\nsamples:\n  one: {n: 1}\n  two: {n: 2}\nsteps:\n  - step: double\n"
        "  - condition: is_much\n    when: input > 3\n    then: [end]\n")

    def evaluate(self, *texts, **members):
        return self.api.post("/workflows/evaluate",
            {"definition": self.EVALUATED, "texts": list(texts), **members})

    def test_evaluates_expressions_on_the_samples(self):
        found = self.evaluate("input.n * 2", "${ workflow.input.n } of ${ workflow.name }",
            node="double").json()["results"]
        self.assertEqual([(one["text"], one["expression"].strip()) for one in found],
            [(0, "input.n * 2"), (1, "workflow.input.n"), (1, "workflow.name")])
        self.assertEqual(found[0]["values"],
            [{"sample": "one", "value": 2}, {"sample": "two", "value": 4}])
        self.assertEqual(found[2]["values"][0], {"sample": "one", "value": "small"})

    def test_says_what_the_samples_do_not_say(self):
        values = self.evaluate("input > 3", node="is_much").json()["results"][0]["values"]
        self.assertEqual((values[0]["unknown"], "value" in values[0]), (True, False))
        values = self.evaluate("input > 3", node="is_much", input={}, steps={"double": 4}).json()
        self.assertEqual(values["results"][0]["values"], [{"sample": "", "value": True}])
        values = self.evaluate("input >", node="double").json()["results"][0]["values"]
        self.assertEqual((values[0]["unknown"], values[0]["error"] != ""), (False, True))

    def test_refuses_expressions_that_cannot_be_tried(self):
        self.problem(self.evaluate(texts="input"), 400, "invalid_argument")
        self.problem(self.evaluate("x", nod="double"), 400, "unknown_field")
        self.problem(self.evaluate(*["1"] * 101), 400, "invalid_argument")
        broken = {"definition": "workflow: x\nsteps: [{nam: a}]", "texts": ["1"]}
        self.problem(self.api.post("/workflows/evaluate", broken), 422, "invalid_definition")

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
