// The text form of an instance's state. A state whose every field differs from its default survives
// a round trip, and other texts are refused with a reason.

#include <gtest/gtest.h>

#include <ebb/error.h>

#include "core/kernel/program.h"
#include "core/kernel/state.h"
#include "support/flow.h"

namespace ebb::test {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<const Program> program() {
    return Program::compile(workflow(
        {parallel("p", {{"x", {step("a")}}, {"y", {step("b")}}}),
         node("here", Savepoint{}),
         node("turns", Loop{.while_expression = "input < 3", .steps = {step("t")}}),
         step("c", {.is_compensated = false})}
    ));
}

TimePoint at(Duration time) {
    return TimePoint(time);
}

Token every_token_field(const Program& program) {
    return {
        .id = 2,
        .node = program.find("a"),
        .status = TokenStatus::Frozen,
        .scope = 1,
        .visit = 3,
        .attempt = 4,
        .attempt_base = 2,
        .losses = 1,
        .pauses = 2,
        .input = 5,
        .due = at(6s),
        .deadline = at(7s),
        .compensates = 4,
        .failed = 9,
        .is_parked = true,
        .stopping = true,
        .in_doubt = true,
        .is_at_end = true,
        .loops = {{.loop = program.find("turns"), .turn = 8}},
        .votes = {{.by = "ann"}, {.by = "\"eve\""}},
    };
}

InstanceState every_field(const Program& program) {
    return {
        .status = InstanceStatus::Paused,
        .paused_from = InstanceStatus::Compensating,
        .last_seq = 22,
        .last_token = 3,
        .last_scope = 1,
        .last_visit = 4,
        .deadline = at(9s),
        .result = 10,
        .error = 11,
        .savepoint =
            SavepointMark{
                .node = program.find("here"),
                .reached = 12,
                .resumes = 13,
                .loops = {{.loop = program.find("turns"), .turn = 1}},
                .input = 14,
            },
        .tokens =
            {{.id = 1, .node = program.find("p"), .status = TokenStatus::Forked},
             every_token_field(program),
             {.id = 3, .node = program.find("b"), .scope = 1, .branch = 1}},
        .scopes =
            {{.id = 1,
              .parent = 1,
              .node = program.find("p"),
              .opened = 15,
              .branches =
                  {{.status = BranchOutcome::Status::Stopped, .output = 16},
                   {.status = BranchOutcome::Status::Failed, .output = 0}}}},
        .rollbacks =
            {{.kind = Rollback::Kind::Losers,
              .scope = 1,
              .cause = 17,
              .first = 18,
              .cursor = 19,
              .floor = 20,
              .deadline = at(21s)}},
        .signals = {{.name = "paid", .event = 22}},
        .requests = {"r1", "r2"},
        .run = InstanceId::parse("01900000-0000-7000-8000-000000000001"),
    };
}

TEST(StateCodec, every_field_comes_back) {
    const auto compiled = program();
    const InstanceState state = every_field(*compiled);
    const std::string text = encode_state(state, *compiled);
    const InstanceState again = decode_state(text, *compiled);
    EXPECT_EQ(again, state) << text;
    EXPECT_EQ(encode_state(again, *compiled), text);
}

TEST(StateCodec, a_state_of_before_there_were_pauses_and_runs_is_read) {
    const auto compiled = program();
    // A step that has paused once and failed twice: each call was counted as an attempt.
    const InstanceState state = decode_state(
        R"({"status":"running","seq":4,"last_token":1,"visit":1,"tokens":[{"id":1,"node":"a",)"
        R"("status":"retrying","visit":1,"attempt":4,"attempt_base":2,"input":1,"payload":3}]})",
        *compiled
    );
    EXPECT_EQ(state.run, std::nullopt);
    const Token& token = state.tokens.at(0);
    EXPECT_EQ(token.attempt, 4);
    EXPECT_EQ(token.attempt_base, 2);
    EXPECT_EQ(token.pauses, 0);
}

TEST(StateCodec, fields_of_a_later_version_are_ignored) {
    const auto compiled = program();
    InstanceState state;
    state.last_token = 1;
    state.tokens = {{.id = 1, .node = compiled->find("c")}};
    std::string text = encode_state(state, *compiled);
    text.insert(1, R"("later":{"deep":[1,{"x":null}]},)");
    EXPECT_EQ(decode_state(text, *compiled), state);
}

/// A text that is not a state of program(), and the expected reason.
struct NoState {
    const char* text;
    const char* says;
};

const NoState kNoStates[] = {
    {"", "at byte 1: the text ends too early"},
    {"[]", "an object is expected"},
    {"{}", "it has no status"},
    {R"({"status":"running"} x)", "something follows the end"},
    {R"({"status":"gone"})", "\"gone\" is not an instance status"},
    {R"({"status":"running","seq":1.5})", "an integer of 64 bits is expected"},
    {R"({"status":"running","tokens":[{"id":1}]})", "a token has no node"},
    {R"({"status":"running","tokens":[{"id":1,"node":"zzz"}]})", "no node \"zzz\""},
    {R"({"status":"running","tokens":[{"id":1,"node":"c","status":"lost"}]})",
     "\"lost\" is not a token status"},
    {R"({"status":"running","tokens":[{"id":1,"node":"c","attempt":2147483648}]})",
     "a number is out of range"},
    {R"({"status":"running","tokens":[{"id":1,"node":"c","scope":7}]})",
     "in a scope that does not exist"},
    {R"({"status":"running","tokens":[{"id":1,"node":"c","compensates":7}]})", "no compensation"},
    {R"({"status":"running","scopes":[{"id":1,"node":"p"}]})", "a scope does not fit its block"},
    {R"({"status":"failed","savepoint":{"node":"c"}})", "its savepoint is not a savepoint"},
    {R"({"status":"running","last_token":1,"tokens":[{"id":1,"node":"c","visit":1}]})",
     "token 1 is not counted by the state"},
    {R"({"status":"running","tokens":[{"id":1,"node":"c"}]})", "is not counted by the state"},
    {R"({"status":"running","last_token":2,"tokens":[{"id":2,"node":"c"},{"id":1,"node":"c"}]})",
     "its tokens are not in order"},
    {R"({"status":"running","last_token":2,"tokens":[{"id":1,"node":"c"},{"id":2,"node":"c"}]})",
     "two tokens are in one branch"},
    {R"({"status":"running","last_token":1,"tokens":[{"id":1,"node":"p","status":"forked"}]})",
     "token 1 is forked without a scope"},
    {R"({"status":"running","seq":1})", "the instance is running and has 0 tokens"},
    {R"({"status":"running","seq":-1})", "a counter is out of range"},
    {R"({"status":"running","rollbacks":[{"kind":4}]})", "an enum is out of range"},
    {R"({"status":"failed","rollbacks":[{"kind":0},{"kind":1}]})", "a rollback that is not possible"
    },
    {R"({"status":"failed","rollbacks":[{"kind":2}]})", "a rollback of nothing"},
    {R"({"status":"failed","rollbacks":[{"kind":2,"scope":4}]})",
     "a rollback of a scope that does not exist"},
};

TEST(StateCodec, a_text_that_is_not_a_state_is_refused_with_a_reason) {
    const auto compiled = program();
    for (const NoState& wrong : kNoStates) {
        SCOPED_TRACE(wrong.text);
        try {
            decode_state(wrong.text, *compiled);
            ADD_FAILURE() << "the text was accepted";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::CorruptState);
            EXPECT_NE(std::string(error.what()).find(wrong.says), std::string::npos)
                << error.what();
        }
    }
}

}  // namespace
}  // namespace ebb::test
