// Node graphs in the stateless engine: the recipes of docs/how-to/graphs.md, pause and resume with
// a payload, node types with schemas, and secrets that appear nowhere.

#include <ebb/builder.h>
#include <ebb/log.h>
#include <ebb/node_graph.h>
#include <ebb/node_types.h>

#include "unit/stateless/stateless_world.h"
#include "unit/yaml/conformance.h"

namespace ebb::test {
namespace {

using stateless::Engine;
using ::testing::HasSubstr;

TEST(Graph, loops_over_items) {
    //! [items]
    ebb::HandlerRegistry handlers;
    handlers.add("next_item", [](const ebb::Json& data) {
        const auto at = data.at("at").get<std::size_t>();
        const std::string handle = at < data.at("people").size() ? "loop" : "done";
        return ebb::next(handle, data);
    });
    std::vector<std::string> sent;
    handlers.add("send", [&sent](ebb::Json data) {
        const auto at = data.at("at").get<std::size_t>();
        sent.push_back(data.at("people").at(at).get<std::string>());
        data["at"] = at + 1;
        return data;
    });

    ebb::WorkflowBuilder builder("mailing");
    builder
        .graph(
            "each_person", [](ebb::BlockBuilder& nodes) { nodes.step("next_item").step("send"); }
        )
        .edge("next_item", "loop", "send")
        .edge("next_item", "done", "")  // the end of the graph
        .edge("send", "next_item");
    //! [items]
    Engine engine(handlers);
    engine.add(builder.build());
    const Snapshot done = engine.execute(
        engine.start("mailing", Payload::text(R"({"people":["ann","bob","eve"],"at":0})"))
    );
    EXPECT_EQ(done.status(), SnapshotStatus::Completed);
    EXPECT_EQ(sent, (std::vector<std::string>{"ann", "bob", "eve"}));
}

TEST(Graph, gathers_from_several_services) {
    StatelessWorld world({"get_user", "get_orders", "from_cache", "combine"});
    world.fails("get_orders", 100);
    //! [services]
    ebb::WorkflowBuilder builder("profile");
    builder
        .graph(
            "gather",
            [](ebb::BlockBuilder& nodes) {
                nodes.step("get_user");
                nodes.step("get_orders").max_attempts(2);
                nodes.step("from_cache");
                nodes.step("combine").input(
                    R"({"user": "${ steps.get_user.output }", "orders": "${ input }"})"
                );
            }
        )
        .edge("get_user", "get_orders")
        .edge("get_orders", "combine")
        .edge("get_orders", "error", "from_cache")
        .edge("from_cache", "combine");
    //! [services]
    world.acts["get_user"] = [](const Payload&, const StepContext&) { return R"("ann")"; };
    world.acts["from_cache"] = [](const Payload& failure, const StepContext&) {
        EXPECT_EQ(Json::parse(failure).at("message"), "boom");
        return Payload("[17]");
    };
    const Engine engine = world.engine(builder.build());
    const Snapshot done = engine.execute(engine.start("profile"), {.retry_now = true});
    EXPECT_EQ(world.calls_text(), "get_user get_orders get_orders from_cache combine");
    EXPECT_EQ(done.output(), R"({"orders":[17],"user":"ann"})");
}

Definition one_step() {
    return WorkflowBuilder("w").graph("g", [](BlockBuilder& nodes) { nodes.step("ask"); }).build();
}

TEST(Graph, a_step_pauses_and_is_resumed_with_a_payload_that_a_retry_sees_too) {
    HandlerRegistry handlers;
    std::vector<std::string> seen;
    //! [pause]
    handlers.add("ask", [&seen](const ebb::Json& data, const ebb::StepContext& context) {
        if (!context.payload) return ebb::pause();
        seen.push_back(*context.payload);
        if (seen.size() == 1) throw std::runtime_error("the line is busy");
        return ebb::result(data);
    });
    //! [pause]
    Engine engine(handlers);
    engine.add(one_step());
    const Snapshot paused = engine.execute(engine.start("w", Payload::text("1")));
    EXPECT_EQ(paused.status(), SnapshotStatus::Paused);
    EXPECT_EQ(paused.current_node(), "ask");
    EXPECT_TRUE(paused.results("ask").empty());
    EXPECT_EQ(paused.waiting_for().at(0).kind, "signal");

    Snapshot resumed = engine.execute(engine.parse(paused.to_json()), {.payload = "false"});
    EXPECT_EQ(resumed.status(), SnapshotStatus::Error);
    resumed = engine.execute(engine.parse(resumed.to_json()), {.retry_now = true});
    EXPECT_EQ(resumed.status(), SnapshotStatus::Completed);
    EXPECT_EQ(resumed.output(), "1");
    EXPECT_EQ(seen, (std::vector<std::string>{"false", "false"})) << "false is a payload, too";
}

TEST(Graph, a_pause_is_not_an_attempt) {
    HandlerRegistry handlers;

    struct Seen {
        int attempt;
        int pauses;
        int max_attempts;
        std::string key;
    };

    std::vector<Seen> seen;
    handlers.add_raw("ask", [&](const Payload&, const StepContext& context) -> Payload {
        seen.push_back(
            {context.attempt, context.pauses, context.max_attempts, context.idempotency_key}
        );
        if (seen.size() == 1 || seen.size() > 4) throw std::runtime_error("the line is busy");
        context.pause();
        return "null";
    });
    WorkflowBuilder builder("w");
    builder.graph("g", [](BlockBuilder& nodes) { nodes.step("ask").max_attempts(2); });
    Engine engine(handlers);
    engine.add(builder.build());
    Snapshot snapshot = engine.execute(engine.start("w"), {.retry_now = true});
    EXPECT_FALSE(snapshot.retry_state()) << "a paused step waits for no retry";
    for (const char* payload : {"1", "2", "3"}) {
        snapshot = engine.execute(engine.parse(snapshot.to_json()), {.payload = payload});
    }
    ASSERT_EQ(snapshot.status(), SnapshotStatus::Error);
    EXPECT_EQ(snapshot.retry_state()->attempts, 2) << "two calls have failed";
    EXPECT_EQ(snapshot.results("ask").back().attempt, 2);
    EXPECT_THAT(snapshot.waiting_for().at(0).sentence, HasSubstr("(attempt 3)"));
    snapshot = engine.execute(engine.parse(snapshot.to_json()), {.retry_now = true});
    EXPECT_EQ(snapshot.instance_status(), InstanceStatus::Failed);
    EXPECT_EQ(snapshot.results("ask").back().attempt, 3);
    const auto check = [&](std::size_t call, int attempt, int pauses, int max_attempts) {
        SCOPED_TRACE(call);
        EXPECT_EQ(seen.at(call).attempt, attempt);
        EXPECT_EQ(seen.at(call).pauses, pauses);
        EXPECT_EQ(seen.at(call).max_attempts, max_attempts);
        EXPECT_EQ(seen.at(call).key, seen.front().key) << "it is one visit";
    };
    ASSERT_EQ(seen.size(), 6U);
    check(0, 1, 0, 2);
    check(1, 2, 0, 2);
    check(2, 2, 1, 3);
    check(3, 2, 2, 3);
    check(4, 2, 3, 3);
    check(5, 3, 3, 3);
}

TEST(Graph, a_run_starts_at_any_node_of_the_graph) {
    HandlerRegistry handlers;
    handlers.add("a", [](const Json&) { return Json("a"); });
    handlers.add("b", [](const Json& data) { return Json{{"b", data}}; });
    handlers.add("c", [](const Json& data) { return Json{{"c", data}}; });
    WorkflowBuilder builder("w");
    builder
        .graph(
            "g",
            [](BlockBuilder& nodes) {
                nodes.step("a");
                nodes.step("b");
            }
        )
        .edge("a", "b");
    builder.step("c");
    Engine engine(handlers);
    engine.add(builder.build());
    const Snapshot usual = engine.execute(engine.start("w", Payload::text("1")));
    EXPECT_EQ(usual.output(), R"({"c":{"b":"a"}})");
    EXPECT_EQ(usual.start_node(), "");
    EXPECT_FALSE(json_of(usual).contains("startNodeId"));
    //! [start_node]
    const Snapshot begun = engine.start("w", Payload::text("1"), {.start_node = "b"});
    //! [start_node]
    EXPECT_EQ(begun.current_node(), "b");
    EXPECT_EQ(json_of(begun).at("startNodeId"), "b");
    EXPECT_EQ(violations_of_schema(json_of(begun), "snapshot.schema.json"), "");
    const Snapshot read = engine.parse(begun.to_json());
    EXPECT_EQ(read.to_json(), begun.to_json());
    const Snapshot ended = engine.execute(read);
    EXPECT_EQ(ended.output(), R"({"c":{"b":1}})");
    EXPECT_EQ(ended.start_node(), "b") << "it stays known";
    EXPECT_TRUE(ended.results("a").empty());
}

TEST(Graph, a_run_starts_nowhere_else) {
    HandlerRegistry handlers;
    handlers.add("a", [](const Json& data) { return data; });
    handlers.add("c", [](const Json& data) { return data; });
    WorkflowBuilder graph("w");
    graph.graph("g", [](BlockBuilder& nodes) { nodes.step("a"); });
    graph.step("c");
    WorkflowBuilder steps("steps");
    steps.step("a");
    Engine engine(handlers);
    engine.add(graph.build());
    engine.add(steps.build());
    const auto expect_refused = [&](const char* workflow, const char* node, const char* why) {
        try {
            engine.start(workflow, {}, {.start_node = node});
            ADD_FAILURE() << node;
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::InvalidArgument);
            EXPECT_THAT(error.what(), HasSubstr(why));
        }
    };
    expect_refused("w", "c", "has no node \"c\" to start at; it has: a.");
    expect_refused("w", "g", "has no node \"g\" to start at");
    expect_refused("steps", "a", "does not begin with a graph");
    Json json = json_of(engine.start("w", {}, {.start_node = "a"}));
    json["startNodeId"] = "c";
    EXPECT_THROW(engine.parse(json.dump()), Error);
}

TEST(Graph, every_visit_pauses_again) {
    HandlerRegistry handlers;
    int calls = 0;
    handlers.add("ask", [&](const Json& data, const StepContext& context) {
        ++calls;
        if (!context.payload) return pause();
        return next(*context.payload == "true" ? "again" : "enough", data);
    });
    WorkflowBuilder builder("w");
    builder.graph("g", [](BlockBuilder& nodes) { nodes.step("ask"); })
        .edge("ask", "again", "ask")
        .edge("ask", "enough", "");
    Engine engine(handlers);
    engine.add(builder.build());
    Snapshot snapshot = engine.execute(engine.start("w"));
    snapshot = engine.execute(snapshot, {.payload = "true"});
    EXPECT_EQ(snapshot.status(), SnapshotStatus::Paused);
    snapshot = engine.execute(snapshot, {.payload = "false"});
    EXPECT_EQ(snapshot.status(), SnapshotStatus::Completed);
    EXPECT_EQ(calls, 4);
}

TEST(Graph, the_step_limit_can_be_resumed) {
    HandlerRegistry handlers;
    handlers.add("ask", [](int turn) { return next(turn < 10 ? "again" : "enough", turn + 1); });
    WorkflowBuilder builder("w");
    builder.graph("g", [](BlockBuilder& nodes) { nodes.step("ask"); })
        .edge("ask", "again", "ask")
        .edge("ask", "enough", "");
    Engine engine(handlers);
    engine.add(builder.build());
    Snapshot snapshot = engine.execute(engine.start("w", Payload::text("1")), {.step_limit = 3});
    EXPECT_EQ(snapshot.status(), SnapshotStatus::Active);
    snapshot = engine.execute(snapshot, {.step_limit = 7});
    EXPECT_EQ(snapshot.status(), SnapshotStatus::Completed);
    EXPECT_EQ(snapshot.output(), "11");
}

TEST(Graph, a_long_cycle_costs_the_same_at_its_end_as_at_its_beginning) {
    HandlerRegistry handlers;
    handlers.add("ask", [](int turn) { return next(turn < 5'000 ? "again" : "enough", turn + 1); });
    WorkflowBuilder builder("w");
    builder.graph("g", [](BlockBuilder& nodes) { nodes.step("ask"); })
        .edge("ask", "again", "ask")
        .edge("ask", "enough", "");
    stateless::EngineOptions options{.history = {.keep = Keep::Last, .last = 1}};
    Engine engine(handlers, options);
    engine.add(builder.build());
    Snapshot snapshot =
        engine.execute(engine.start("w", Payload::text("1")), {.step_limit = 1'000});
    const std::size_t early = snapshot.to_json().size();
    snapshot = engine.execute(std::move(snapshot), {.step_limit = 3'999});
    EXPECT_LT(snapshot.to_json().size(), early + 64);
}

/// Everything that is said of a workflow, in one text.
struct Overheard : LogSink, Observer {
    std::string text;

    bool is_enabled(LogLevel) const noexcept override { return true; }

    void write(
        LogLevel, std::string_view event, std::span<const LogField> fields
    ) noexcept override {
        text += event;
        for (const LogField& field : fields) text += field.value;
    }

    void before_step(const StepContext&, const Payload& input) override { text += input; }

    void after_step(const StepContext&, const CallEnd& end) override {
        text += end.output + end.code + end.message;
    }

    void on_committed(const InstanceSummary&, std::span<const HistoryEntry> events) override {
        for (const HistoryEntry& event : events) text += event.type + event.payload;
    }
};

constexpr const char* kSecret = "s3cr\"et-t0ken";

NodeTypesOptions with_secrets() {
    NodeTypesOptions options;
    options.secrets = [](const StepContext&) {
        return Json({{"token", kSecret}, {"deep", {{"pin", "99 bottles"}}}}).dump();
    };
    options.globals = [](const StepContext&) { return Payload(R"({"region":"eu"})"); };
    return options;
}

Definition fetch_graph() {
    return import_graph(Json::parse(R"({
        "name": "w",
        "nodes": [
            {"id": "fetch", "type": "http", "data": {
                "url": "https://${ globals.region }.example.org",
                "token": "Bearer ${ secrets.token }", "pin": "${ secrets.deep.pin }",
                "user": "${ input.user }"}},
            {"id": "fetch2", "type": "http", "data": "${ input }"}
        ],
        "edges": [{"source": "fetch", "target": "fetch2"}]
    })"));
}

/// Runs the graph and returns all that was kept or said.
std::string run_and_overhear(const NodeTypes& types, const Payload& input) {
    HandlerRegistry handlers;
    types.add_to(handlers);
    auto overheard = std::make_shared<Overheard>();
    stateless::EngineOptions options;
    options.log = overheard.get();
    Engine engine(handlers, options);
    engine.add(fetch_graph());
    engine.add_observer(overheard);
    const Snapshot end = engine.execute(engine.start("w", input), {.retry_now = true});
    return end.to_json() + overheard->text;
}

void expect_no_secret(const std::string& text) {
    EXPECT_EQ(text.find("s3cr"), std::string::npos) << text;
    EXPECT_EQ(text.find("t0ken"), std::string::npos) << text;
    EXPECT_EQ(text.find("99 bottles"), std::string::npos) << text;
}

TEST(Secrets, reach_the_handler_and_nothing_else) {
    NodeTypes types(with_secrets());
    std::vector<Json> inputs;
    types.add("http", {}, [&](const Json& data) {
        inputs.push_back(data);
        return Json({{"echo", data}, {std::string("key ") + kSecret, 1}});
    });
    EXPECT_TRUE(types.bind(fetch_graph()).empty());
    const std::string all = run_and_overhear(types, R"({"user":"ann"})");
    ASSERT_EQ(inputs.size(), 2u);
    EXPECT_EQ(inputs[0].at("token"), std::string("Bearer ") + kSecret);
    EXPECT_EQ(inputs[0].at("pin"), "99 bottles");
    EXPECT_EQ(inputs[0].at("url"), "https://eu.example.org");
    EXPECT_EQ(inputs[0].at("user"), "ann");
    expect_no_secret(all);
    EXPECT_NE(all.find("[redacted]"), std::string::npos);
    EXPECT_NE(all.find("Bearer ${ secrets.token }"), std::string::npos) << "kept as it was written";
}

TEST(Secrets, are_not_in_errors) {
    for (int kind = 0; kind < 5; ++kind) {
        NodeTypes types(with_secrets());
        types.add("http", {}, [kind](const Json& data) -> Json {
            const std::string token = data.at("token").get<std::string>();
            if (kind == 0) throw std::runtime_error(token);
            if (kind == 1) throw PermanentError(token, token);
            if (kind == 2) throw RetryAfter(token, 1s);
            if (kind == 3) {
                throw HandlerFailure(
                    token, {.code = token, .details = Json({{"sent", token}}).dump()}
                );
            }
            throw std::runtime_error("no " + data.at("pin").get<std::string>());
        });
        types.bind(fetch_graph());
        expect_no_secret(run_and_overhear(types, R"({"user":"ann"})"));
    }
}

TEST(Secrets, are_not_in_what_a_schema_says) {
    NodeTypes types(with_secrets());
    const NodeType strict{
        .input_schema =
            R"({"properties":{"token":{"enum":["x"]},"pin":{"maxLength":3}},"type":"object"})"
    };
    types.add("http", strict, [](const Json& data) { return data; });
    types.bind(fetch_graph());
    const std::string all = run_and_overhear(types, R"({"user":"ann"})");
    expect_no_secret(all);
    EXPECT_NE(all.find("invalid_input"), std::string::npos);
}

TEST(Secrets, cannot_be_asked_for_by_data) {
    NodeTypes types(with_secrets());
    std::vector<std::string> users;
    types.add("http", {}, [&](const Json& data) {
        users.push_back(data.at("user").get<std::string>());
        return Json({{"user", "${ secrets.token }"}});
    });
    types.bind(fetch_graph());
    run_and_overhear(types, R"({"user":"${ secrets.token }"})");
    EXPECT_EQ(users, (std::vector<std::string>{"${ secrets.token }", "${ secrets.token }"}));
}

TEST(Secrets, that_are_not_texts_are_refused_without_being_named) {
    for (const char* wrong : {R"({"pin": 99123456})", "99123456 {", "[\"99123456\"]"}) {
        NodeTypesOptions options;
        options.secrets = [wrong](const StepContext&) { return Payload(wrong); };
        NodeTypes types(options);
        types.add("http", {}, [](const Json& data) { return data; });
        types.bind(fetch_graph());
        const std::string all = run_and_overhear(types, R"({"user":"ann"})");
        EXPECT_EQ(all.find("99123456"), std::string::npos) << all;
        EXPECT_NE(all.find("secret"), std::string::npos) << all;
    }
}

Snapshot run_one(const NodeTypes& types, const Payload& input) {
    HandlerRegistry handlers;
    types.add_to(handlers);
    Engine engine(handlers);
    engine.add(one_step());
    return engine.execute(engine.start("w", input), {.retry_now = true});
}

TEST(NodeTypes, compare_inputs_and_outputs_with_their_schemas) {
    int calls = 0;
    NodeTypes types;
    types.add(
        "ask",
        {.input_schema = R"({"type":"object","required":["amount"]})",
         .output_schema = R"({"type":"integer"})"},
        [&](const Json& data) {
            ++calls;
            return data.at("amount");
        }
    );
    EXPECT_EQ(run_one(types, R"({"amount":5})").output(), "5");
    EXPECT_EQ(calls, 1);

    const Json input_error = Json::parse(run_one(types, "{}").error());
    EXPECT_EQ(input_error.at("code"), "invalid_input");
    const std::string message = input_error.at("message").get<std::string>();
    EXPECT_NE(message.find("amount"), std::string::npos) << message;
    EXPECT_NE(message.find("\"ask\""), std::string::npos) << message;
    EXPECT_EQ(calls, 1) << "the handler was not called";

    const Json output_error = Json::parse(run_one(types, R"({"amount":"x"})").error());
    EXPECT_EQ(output_error.at("code"), "invalid_output");
    EXPECT_EQ(calls, 2) << "and not tried again";
}

TEST(NodeTypes, refuse_a_schema_that_is_none_and_a_type_that_is_known) {
    NodeTypes types;
    const auto pass = [](const Json& data) { return data; };
    EXPECT_THROW(types.add("a", {.input_schema = "{"}, pass), Error);
    EXPECT_THROW(types.add("a", {.input_schema = R"({"$ref":"#/no"})"}, pass), Error);
    types.add("a", {}, pass);
    EXPECT_THROW(types.add("a", {}, pass), Error);
}

TEST(NodeTypes, tell_of_steps_that_no_type_runs_and_of_texts_that_mix_times) {
    NodeTypes types;
    types.add("http", {}, [](const Json& data) { return data; });
    WorkflowBuilder builder("w");
    builder.step("a", {.handler = "htpt"});
    builder.step("b", {.handler = "http", .input = R"({"x":"${ input.y }-$${ secrets.z }"})"});
    builder.step("c", {.handler = "http", .input = R"({"x":"$${ HOME }"})"});
    const std::vector<Diagnostic> problems = types.bind(builder.build());
    ASSERT_EQ(problems.size(), 2u);
    EXPECT_EQ(problems[0].code, "unknown_node_type");
    EXPECT_EQ(problems[0].path, "/steps/0/handler");
    EXPECT_NE(problems[0].message.find("Did you mean \"http\"?"), std::string::npos);
    EXPECT_EQ(problems[1].code, "late_expression");
    EXPECT_EQ(problems[1].path, "/steps/1/input/x");
}

TEST(NodeTypes, an_envelope_names_the_handle_or_pauses) {
    NodeTypes types;
    types.add("ask", {.result = NodeType::Result::Envelope}, [](const Json& envelope) {
        return envelope;
    });
    EXPECT_EQ(run_one(types, R"({"data":5,"nextHandle":null})").output(), "5");
    EXPECT_EQ(run_one(types, R"({"__pause":true})").status(), SnapshotStatus::Paused);
    const Snapshot failed = run_one(types, R"({"data":5,"nextHandle":"nowhere"})");
    EXPECT_EQ(Json::parse(failed.error()).at("code"), "unmatched_handle");
    EXPECT_EQ(Json::parse(run_one(types, "5").error()).at("code"), "invalid_output");
}

TEST(NodeTypes, take_other_validators_and_transformers) {
    struct OnlyFive : Validator {
        std::vector<std::string> violations(const Payload& value) const override {
            if (value == "5") return {};
            return {"/: it is not five"};
        }
    };

    struct Increment : Transformer {
        Payload transform(const Payload& data, const StepContext&, const CallValues&)
            const override {
            return std::to_string(std::stoi(data) + 1);
        }
    };

    NodeTypesOptions options;
    options.validators = [](const Payload&) { return std::make_shared<OnlyFive>(); };
    options.transformers = {std::make_shared<Increment>(), std::make_shared<Increment>()};
    NodeTypes types(options);
    types.add("ask", {.input_schema = "whatever it understands"}, [](int number) {
        return number;
    });
    EXPECT_EQ(run_one(types, "3").output(), "5");
    const Json error = Json::parse(run_one(types, "4").error());
    EXPECT_NE(error.at("message").get<std::string>().find("not five"), std::string::npos);
}

}  // namespace
}  // namespace ebb::test
