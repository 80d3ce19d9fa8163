// A snapshot's text is read by guessing what stands where, as this library writes it. Whatever a
// text is like, that must come to the same as reading it without any guess: the same snapshot, or
// the same error. Method: both readers over the texts of lives with every kind of node, as they
// are, reordered, spaced, with unknown members, and with bytes changed at random.

#include <random>

#include <ebb/builder.h>

#include "stateless/codec.h"
#include "unit/stateless/stateless_world.h"

namespace ebb::test {
namespace {

using Guess = JsonReader::Guess;

Definition everything() {
    Definition definition = workflow(
        {step("a", {.max_attempts = 2}),
         savepoint("mark"),
         parallel("p", {{"x", {step("b")}}, {"y", {node("go", Signal{})}}}),
         condition("if", "steps.a.output.n > 0", {node("ask", HumanDecision{})}),
         node(
             "again",
             Loop{
                 .until_expression = "steps.c.output != null",
                 .steps = {step("c", {.is_compensated = false})},
                 .max_iterations = 3
             }
         ),
         node("rest", Delay{.duration = "5s"}),
         step("d", {.input = "{\"b\":\"${steps.b.output}\"}"})}
    );
    definition.name = "every";
    return definition;
}

/// The texts of an instance that goes through everything and is rolled back by a failure of `d`.
std::vector<std::string> life_of(StatelessWorld& world, const stateless::Engine& engine) {
    world.fails("a", 1);
    world.fails("d", 9);
    world.acts["b"] = [](const Payload&, const StepContext&) {
        return R"({"text":"\u00e9\n\" \\","list":[1,-2.50e1,true,null,{}],"much":"0123456789ab"})";
    };
    Snapshot snapshot = engine.start(
        "every", Payload::text(R"({"n":10})"), {.workflow_id = "order-17\u00e9", .key = "k\"17"}
    );
    std::vector<std::string> life{snapshot.to_json()};
    for (int i = 0; i < 40 && !snapshot.is_finished(); ++i) {
        const std::int64_t version = snapshot.version();
        world.clock.advance(1'234'567us);
        snapshot = engine.step(std::move(snapshot), {.retry_now = true});
        if (snapshot.version() == version) {
            const auto waits = snapshot.waiting_for();
            for (const WaitingFor& wait : waits) {
                if (wait.kind == "signal")
                    snapshot = engine.signal(snapshot, "go", Payload::text("{\"y\":1.50}"));
                if (wait.kind == "decision") snapshot = engine.decide(snapshot, {.by = "ann"});
                if (wait.kind == "timer") world.clock.advance(5s);
            }
        }
        life.push_back(snapshot.to_json());
    }
    return life;
}

struct Reading : ::testing::Test {
    StatelessWorld world;
    std::shared_ptr<const stateless::Workflow> known =
        std::make_shared<const stateless::Workflow>(stateless::Workflow{
            .program = Program::compile(everything()), .checksum = definition_checksum(everything())
        });

    std::vector<std::string> life(stateless::HistoryPolicy policy = {}) {
        return life_of(world, world.engine(everything(), policy));
    }

    /// The text that is written of what was read, or what is wrong.
    std::string read(std::string_view text, Guess guess) const {
        const auto find = [this](std::string_view name, int version) {
            if (name == "every" && version == 1) return known;
            throw Error(ErrorCode::WorkflowNotFound, "no " + std::string(name));
        };
        try {
            return stateless::write_snapshot(*stateless::read_snapshot(text, find, {}, guess));
        } catch (const Error& error) {
            return std::string(to_string(error.code())) + " " + error.what();
        }
    }

    /// The same by both readers.
    std::string read(std::string_view text) const {
        std::string guessed = read(text, Guess::Members);
        EXPECT_EQ(guessed, read(text, Guess::Nothing)) << text;
        return guessed;
    }
};

TEST_F(Reading, both_ways_give_back_the_text_at_every_moment) {
    const auto texts = life();
    EXPECT_GE(texts.size(), 12U);
    EXPECT_NE(texts.back().find("\"status\":\"failed\""), std::string::npos) << texts.back();
    for (const std::string& text : texts) EXPECT_EQ(read(text), text);
}

TEST_F(Reading, both_ways_give_back_the_text_whatever_was_kept) {
    for (const Keep keep : {Keep::Last, Keep::ErrorsOnly}) {
        for (const std::string& text : life({.keep = keep, .last = 1})) EXPECT_EQ(read(text), text);
    }
}

/// `value` with the members of every object in another order, unknown ones among them, and spaces
/// where they may stand.
class Shuffler {
 public:
    explicit Shuffler(unsigned seed) : random_(seed) {}

    std::string write(const Json& value) {
        if (value.is_object()) return object(value);
        if (!value.is_array()) return space() + value.dump() + space();
        std::string text = space() + "[";
        for (std::size_t i = 0; i < value.size(); ++i)
            text += (i == 0 ? "" : ",") + write(value[i]);
        return text + "]" + space();
    }

 private:
    std::string object(const Json& value) {
        std::vector<std::string> members;
        for (const auto& [key, member] : value.items()) {
            members.push_back(space() + Json(key).dump() + space() + ":" + write(member));
        }
        std::shuffle(members.begin(), members.end(), random_);
        std::string text = space() + "{";
        for (std::size_t i = 0; i < members.size(); ++i) text += (i == 0 ? "" : ",") + members[i];
        return text + "}" + space();
    }

    std::string space() {
        static constexpr std::array<const char*, 8> kSpaces{"", "", "", "", "", " ", "\n", "\t\r "};
        return kSpaces[random_() % kSpaces.size()];
    }

    std::mt19937 random_;
};

TEST_F(Reading, order_and_spaces_mean_nothing) {
    unsigned seed = 0;
    for (const std::string& text : life()) {
        const Json meant = Json::parse(text);
        for (int round = 0; round < 5; ++round) {
            const std::string shuffled = Shuffler(++seed).write(meant);
            EXPECT_EQ(Json::parse(read(shuffled)), meant) << shuffled;
        }
    }
}

/// What may be put before a member of an object without changing what is meant.
TEST_F(Reading, unknown_members_mean_nothing_wherever_they_stand) {
    const std::string text = life().at(9);
    const Json meant = Json::parse(text);
    std::size_t places = 0;
    bool in_string = false;
    for (std::size_t at = 0; at + 1 < text.size(); ++at) {
        if (text[at] == '\\') ++at;
        if (text[at] == '"') in_string = !in_string;
        const bool is_place = !in_string && text[at] == '{' && text[at + 1] != '}';
        if (!is_place || text.compare(at + 1, 5, "\"text") == 0) continue;
        const std::string more = text.substr(0, at + 1) + R"("x":{"y":[]},)" + text.substr(at + 1);
        const std::string read_back = read(more);
        // The maps of nodes have no unknown members, and payloads keep them.
        if (Json::parse(read_back, nullptr, false) == meant) ++places;
    }
    EXPECT_GE(places, 8U);
}

TEST_F(Reading, a_repeated_member_counts_as_it_always_did) {
    for (const std::string& text : life()) {
        const std::string body = text.substr(1, text.size() - 2);
        read("{" + body + "," + body + "}");
        for (const char* member :
             {R"("state":{})",
              R"("version":1)",
              R"("status":"active")",
              R"("context":{})",
              R"("currentNodeId":null)",
              R"("currentNodeId":"\u0061")",
              R"("workflow":{})",
              R"("events":[])",
              R"("input":[1 ])",
              R"("metadata":{"a" :1})",
              R"("key":"x\ny")"}) {
            read(text.substr(0, text.size() - 1) + "," + member + "}");
            read("{" + std::string(member) + "," + body + "}");
        }
    }
}

TEST_F(Reading, every_text_cut_short_is_refused_alike) {
    const std::string text = life().at(8);
    for (std::size_t length = 0; length < text.size(); ++length) {
        EXPECT_NE(read(text.substr(0, length)), text);
    }
}

/// One byte, or a few, become something else, go, or come twice.
std::string mutate(std::string text, std::mt19937& random) {
    static constexpr std::string_view kBytes =
        "{}[]\",:\\ 0123456789-.eEtfnulx\n\x01\x7f\xc3\xa9\xff";
    const int changes = 1 + static_cast<int>(random() % 2);
    for (int i = 0; i < changes; ++i) {
        const std::size_t at = random() % text.size();
        switch (random() % 4) {
            case 0:
                text.erase(at, 1 + random() % 3);
                break;
            case 1:
                text.insert(at, 1, kBytes[random() % kBytes.size()]);
                break;
            case 2:
                text.insert(at, text.substr(at, 1 + random() % 40));
                break;
            default:
                text[at] = kBytes[random() % kBytes.size()];
        }
    }
    return text;
}

TEST_F(Reading, texts_changed_at_random_are_read_or_refused_alike) {
    std::mt19937 random(17);
    std::size_t refused = 0;
    std::size_t tried = 0;
    for (const std::string& text : life()) {
        for (int round = 0; round < 300; ++round, ++tried) {
            const std::string changed = mutate(text, random);
            if (read(changed).front() != '{') ++refused;
        }
    }
    EXPECT_GT(refused, tried / 4);
    EXPECT_LT(refused, tried);
}

TEST_F(Reading, a_snapshot_that_was_read_continues_as_if_it_had_never_been_text) {
    const auto engine = world.engine(everything());
    const auto texts = life();
    for (const std::string& text : texts) {
        const Snapshot read = engine.parse(text);
        const Snapshot copy = read;
        EXPECT_EQ(copy.to_json(), text);
        // What belongs to the text must not be missed when only the copy is left.
        Snapshot moved = [&] {
            const Snapshot short_lived = engine.parse(std::string(text));
            return short_lived;
        }();
        EXPECT_EQ(moved.to_json(), text);
    }
}

TEST_F(Reading, two_workflows_in_one_text_are_refused) {
    const auto small = std::make_shared<const stateless::Workflow>(
        stateless::Workflow{.program = Program::compile(workflow({step("a")})), .checksum = "c"}
    );
    std::string text = life().at(6);
    text.pop_back();
    text += R"(,"workflow":{"name":"small","version":1,"checksum":"c"}})";
    const auto find = [&](std::string_view name, int) { return name == "small" ? small : known; };
    for (const Guess guess : {Guess::Members, Guess::Nothing}) {
        expect_error(ErrorCode::CorruptState, "it names two workflows", [&] {
            stateless::read_snapshot(text, find, {}, guess);
        });
    }
}

}  // namespace
}  // namespace ebb::test
