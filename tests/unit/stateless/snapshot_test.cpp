// The JSON form of a snapshot: the fields that other programs read, a stable round trip, the
// published schema, and precise errors for other texts.

#include <algorithm>

#include "unit/stateless/stateless_world.h"
#include "unit/yaml/conformance.h"

namespace ebb::test {
namespace {

Definition order() {
    Definition definition = workflow(
        {step("a", {.max_attempts = 2}),
         parallel("p", {{"x", {step("b")}}, {"y", {node("go", Signal{})}}}),
         step("c", {.input = "{\"b\":\"${steps.b.output}\"}"})}
    );
    definition.name = "order";
    return definition;
}

/// The snapshots of an instance that retries, forks, waits, continues and is rolled back.
std::vector<std::string> life_of(StatelessWorld& world, const stateless::Engine& engine) {
    world.fails("a", 1);
    world.fails("c", 1);
    std::vector<std::string> life;
    Snapshot snapshot = engine.start(
        "order",
        Payload::text(R"({"amount":10})"),
        {.workflow_id = "order-17", .key = "17", .metadata = "{\"x\":1}"}
    );
    life.push_back(snapshot.to_json());
    for (int i = 0; i < 20 && !snapshot.is_finished(); ++i) {
        const std::int64_t version = snapshot.version();
        snapshot = engine.step(std::move(snapshot), {.retry_now = true});
        if (snapshot.version() == version)
            snapshot = engine.signal(snapshot, "go", Payload::text("{\"y\":1.50}"));
        life.push_back(snapshot.to_json());
    }
    return life;
}

TEST(Snapshot, has_the_fields_that_other_programs_read) {
    StatelessWorld world;
    world.fails("a", 1);
    const auto engine = world.engine(order());
    const Snapshot snapshot =
        engine.step(engine.start("order", Payload::text("{\"n\":1}"), {.workflow_id = "order-17"}));
    const Json json = json_of(snapshot);
    EXPECT_EQ(json.at("workflowId"), "order-17");
    EXPECT_EQ(json.at("workflow").at("name"), "order");
    EXPECT_EQ(json.at("status"), "error");
    EXPECT_EQ(json.at("currentNodeId"), "a");
    EXPECT_EQ(json.at("version"), 1);
    EXPECT_EQ(json.at("lastStartedAt"), 1'800'000'000'000);
    EXPECT_EQ(json.at("totalExecutionTime"), 0);
    EXPECT_EQ(json.at("metadata"), Json::object());
    const Json retry = {{"nodeId", "a"}, {"attempts", 1}, {"nextRetryAt", 1'800'000'001'000}};
    EXPECT_EQ(json.at("retryState"), retry);
    const Json result = json.at("context").at("a").at(0);
    EXPECT_EQ(result.at("output"), nullptr);
    EXPECT_EQ(result.at("error"), "boom");
    EXPECT_EQ(result.at("timestamp"), 1'800'000'000'000);
    EXPECT_EQ(result.at("attempt"), 1);
}

TEST(Snapshot, the_round_trip_is_stable_at_every_moment) {
    StatelessWorld world;
    const auto engine = world.engine(order());
    const auto life = life_of(world, engine);
    EXPECT_GT(life.size(), 8U);
    EXPECT_NE(life.back().find("\"status\":\"failed\""), std::string::npos) << life.back();
    for (const std::string& text : life) EXPECT_EQ(engine.parse(text).to_json(), text);
}

TEST(Snapshot, the_order_of_keys_and_spaces_do_not_matter) {
    // PostgreSQL's jsonb keeps neither.
    StatelessWorld world;
    const auto engine = world.engine(order());
    for (const std::string& text : life_of(world, engine)) {
        const std::string sorted = Json::parse(text).dump(2);
        EXPECT_EQ(Json::parse(engine.parse(sorted).to_json()), Json::parse(text));
    }
}

TEST(Snapshot, conforms_to_the_published_schema_at_every_moment) {
    StatelessWorld world;
    for (const Keep keep : {Keep::All, Keep::Last, Keep::ErrorsOnly}) {
        const auto engine = world.engine(order(), {.keep = keep, .last = 1});
        for (const std::string& text : life_of(world, engine)) {
            EXPECT_EQ(violations_of_schema(Json::parse(text), "snapshot.schema.json"), "") << text;
        }
    }
}

TEST(Snapshot, the_schema_refuses_other_documents) {
    StatelessWorld world;
    const auto engine = world.engine(order());
    Json json = json_of(engine.start("order"));
    json["status"] = "running";
    EXPECT_NE(violations_of_schema(json, "snapshot.schema.json"), "");
}

TEST(Snapshot, an_application_id_gives_a_stable_uuid) {
    StatelessWorld world;
    const auto engine = world.engine(order());
    const Snapshot first = engine.start("order", Payload::text("1"), {.workflow_id = "order-17"});
    const Snapshot second = engine.start("order", Payload::text("1"), {.workflow_id = "order-17"});
    EXPECT_EQ(first.instance(), second.instance());
    EXPECT_EQ(first.instance().to_string().at(14), '8');
    const std::string uuid = "01900000-0000-7000-8000-000000000001";
    EXPECT_EQ(
        engine.start("order", Payload::text("1"), {.workflow_id = uuid}).instance().to_string(),
        uuid
    );
    EXPECT_NE(engine.start("order").workflow_id(), engine.start("order").workflow_id());
}

TEST(Snapshot, the_named_limits_hold_exactly) {
    StatelessWorld world;
    const auto engine = world.engine(order());
    EXPECT_NO_THROW(
        engine.start("order", Payload::text("1"), {.workflow_id = std::string(255, 'x')})
    );
    expect_error(ErrorCode::LimitExceeded, "255 are allowed", [&] {
        engine.start("order", Payload::text("1"), {.workflow_id = std::string(256, 'x')});
    });
    EXPECT_NO_THROW(engine.start("order", Payload::text("1"), {.key = std::string(256, 'x')}));
    expect_error(ErrorCode::LimitExceeded, "256 are allowed", [&] {
        engine.start("order", Payload::text("1"), {.key = std::string(257, 'x')});
    });
    const std::string text = engine.start("order").to_json();
    auto options = world.options();
    options.snapshot_bytes_max = text.size();
    stateless::Engine exact(world.handlers, options);
    exact.add(order());
    EXPECT_NO_THROW(exact.parse(text));
    expect_error(ErrorCode::PayloadTooLarge, "snapshot_bytes_max", [&] {
        exact.parse(text + " ");
    });
}

TEST(Snapshot, metadata_is_an_object) {
    StatelessWorld world;
    const auto engine = world.engine(order());
    Snapshot snapshot = engine.start("order", Payload::text("1"), {.metadata = R"({"a":[1]})"});
    EXPECT_EQ(snapshot.metadata(), R"({"a":[1]})");
    expect_error(ErrorCode::InvalidPayload, "object", [&] { snapshot.set_metadata("[1]"); });
    expect_error(ErrorCode::InvalidPayload, "not valid JSON", [&] { snapshot.set_metadata("{"); });
    EXPECT_EQ(snapshot.version(), 0) << "a refused value changes nothing";
    snapshot.set_metadata("{}");
    EXPECT_EQ(snapshot.version(), 1);
}

TEST(Snapshot, metadata_has_a_limit) {
    StatelessWorld world;
    const auto engine = world.engine(order());
    Snapshot snapshot = engine.start("order");
    const auto object = [](std::size_t bytes) {
        return R"({"x":")" + std::string(bytes - 8, 'x') + "\"}";
    };
    EXPECT_NO_THROW(snapshot.set_metadata(object(Snapshot::kMetadataBytesMax)));
    expect_error(ErrorCode::PayloadTooLarge, "metadata", [&] {
        snapshot.set_metadata(object(Snapshot::kMetadataBytesMax + 1));
    });
}

TEST(Snapshot, is_a_value) {
    StatelessWorld world;
    const auto engine = world.engine(order());
    const Snapshot start = engine.start("order");
    Snapshot copy = start;
    copy = engine.step(std::move(copy));
    EXPECT_EQ(start.version(), 0);
    EXPECT_EQ(copy.version(), 1);
}

/// A change to a good snapshot, and the error that must follow.
struct Tampering {
    const char* change;  ///< a JSON patch (RFC 6902)
    ErrorCode code;
    const char* says;
};

const Tampering kTamperings[] = {
    {R"([{"op":"remove","path":"/formatVersion"}])", ErrorCode::CorruptState, "no formatVersion"},
    {R"([{"op":"replace","path":"/formatVersion","value":3}])",
     ErrorCode::CorruptState,
     "formatVersion is 3, and this program reads up to 2"},
    {R"([{"op":"replace","path":"/runId","value":"x"}])",
     ErrorCode::CorruptState,
     "runId is not a UUID"},
    {R"([{"op":"remove","path":"/workflowId"}])", ErrorCode::CorruptState, "no workflowId"},
    {R"([{"op":"remove","path":"/workflow"}])", ErrorCode::CorruptState, "no workflow"},
    {R"([{"op":"remove","path":"/state"}])", ErrorCode::CorruptState, "no state"},
    {R"([{"op":"remove","path":"/input"}])", ErrorCode::CorruptState, "no input"},
    {R"([{"op":"replace","path":"/version","value":-1}])", ErrorCode::CorruptState, "no version"},
    {R"([{"op":"replace","path":"/version","value":9223372036854775807}])",
     ErrorCode::CorruptState,
     "version from 0 to 2^53 - 1"},
    {R"([{"op":"replace","path":"/version","value":"1"}])",
     ErrorCode::CorruptState,
     "in the field \"version\" a number is expected"},
    {R"([{"op":"replace","path":"/workflow/name","value":"other"}])",
     ErrorCode::WorkflowNotFound,
     "\"other\" version 1"},
    {R"([{"op":"replace","path":"/workflow/version","value":9}])",
     ErrorCode::WorkflowNotFound,
     "version 9"},
    {R"([{"op":"replace","path":"/workflow/checksum","value":"0"}])",
     ErrorCode::WorkflowConflict,
     "a different definition of workflow \"order\""},
    {R"([{"op":"replace","path":"/status","value":"completed"}])",
     ErrorCode::CorruptState,
     "status says \"completed\", and its state is \"active\""},
    {R"([{"op":"replace","path":"/currentNodeId","value":"c"}])",
     ErrorCode::CorruptState,
     "currentNodeId says \"c\", and its state stands at \"b\""},
    {R"([{"op":"replace","path":"/state/status","value":"completed"}])",
     ErrorCode::CorruptState,
     "the instance is completed and has 3 tokens"},
    {R"([{"op":"replace","path":"/state/status","value":"happy"}])",
     ErrorCode::CorruptState,
     "\"happy\" is not an instance status"},
    {R"([{"op":"replace","path":"/state/tokens/1/node","value":"zzz"}])",
     ErrorCode::CorruptState,
     "no node \"zzz\""},
    {R"([{"op":"replace","path":"/state/tokens/1/node","value":"go"}])",
     ErrorCode::CorruptState,
     "token 2 is ready at \"go\", which is a signal"},
    {R"([{"op":"replace","path":"/state/tokens/1/id","value":3}])",
     ErrorCode::CorruptState,
     "two tokens have the number"},
    {R"([{"op":"replace","path":"/state/tokens/1/id","value":99}])",
     ErrorCode::CorruptState,
     "is not counted"},
    {R"([{"op":"replace","path":"/state/tokens/1/input","value":77}])",
     ErrorCode::CorruptState,
     "token 2 refers to an event that does not exist"},
    {R"([{"op":"replace","path":"/state/tokens/1/input","value":5}])",
     ErrorCode::CorruptState,
     "is needed and missing"},
    {R"([{"op":"replace","path":"/context/a/1/seq","value":1}])",
     ErrorCode::CorruptState,
     "two of its events have the number 1"},
    {R"([{"op":"replace","path":"/context/a/1/seq","value":2}])",
     ErrorCode::CorruptState,
     "two of its events have the number 2"},
    {R"([{"op":"replace","path":"/context/a/1/seq","value":1000}])",
     ErrorCode::CorruptState,
     "it has an event 1000"},
    {R"([{"op":"replace","path":"/context/a/1/ref","value":1000}])",
     ErrorCode::CorruptState,
     "refers to a later one"},
    {R"([{"op":"add","path":"/context/a/0/undoable","value":true}])",
     ErrorCode::CorruptState,
     "is said to be undoable"},
    {R"([{"op":"replace","path":"/context/a/0/type","value":"started"}])",
     ErrorCode::CorruptState,
     "a result of node \"a\" is none"},
    {R"([{"op":"move","from":"/context/a","path":"/context/zzz"}])",
     ErrorCode::CorruptState,
     "no node \"zzz\""},
    {R"([{"op":"replace","path":"/metadata","value":[]}])",
     ErrorCode::CorruptState,
     "the metadata is not an object"},
    {R"([{"op":"replace","path":"/startedAt","value":9000000000000000}])",
     ErrorCode::CorruptState,
     "a time is out of range"},
};

TEST(Snapshot, a_snapshot_that_was_tampered_with_is_refused_with_a_reason) {
    StatelessWorld world;
    const auto engine = world.engine(order());
    const auto life = life_of(world, engine);
    // The moment at which the branches have just begun.
    const auto forked = std::find_if(life.begin(), life.end(), [](const std::string& text) {
        return text.find("\"currentNodeId\":\"b\"") != std::string::npos;
    });
    ASSERT_NE(forked, life.end());
    for (const Tampering& tampering : kTamperings) {
        SCOPED_TRACE(tampering.change);
        const Json changed = Json::parse(*forked).patch(Json::parse(tampering.change));
        expect_error(tampering.code, tampering.says, [&] { engine.parse(changed.dump()); });
    }
}

TEST(Snapshot, text_that_is_not_json_is_refused_with_its_place) {
    StatelessWorld world;
    const auto engine = world.engine(order());
    const std::string text = engine.start("order").to_json();
    expect_error(ErrorCode::InvalidPayload, "at byte 1: the text ends too early", [&] {
        engine.parse("");
    });
    expect_error(ErrorCode::InvalidPayload, "something follows the end", [&] {
        engine.parse(text + "}");
    });
    expect_error(ErrorCode::CorruptState, "an object is expected", [&] { engine.parse("[]"); });
    for (std::size_t length = 1; length < text.size(); ++length) {
        EXPECT_THROW(engine.parse(text.substr(0, length)), Error) << length;
    }
}

}  // namespace
}  // namespace ebb::test
