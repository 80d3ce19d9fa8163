// What a call of a handler comes to: every way of failing becomes a Failure that can be stored, and
// a result that cannot be stored is one too.

#include "call/call.h"

#include <limits>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include <ebb/ebb.h>

#include "support/clock.h"

namespace ebb {
namespace {

using namespace std::chrono_literals;

CallLimits small_limits() {
    return {.payload = {.payload_bytes_max = 100, .json_depth_max = 3}, .error_bytes_max = 64};
}

Failure failure_of(const Handler& handler) {
    const CallResult result = call_handler(handler, "1", StepContext{}, small_limits());
    if (const auto* failure = std::get_if<Failure>(&result)) return *failure;
    ADD_FAILURE() << "the call succeeded";
    return {};
}

Handler returning(Payload output) {
    return [output = std::move(output)](const Payload&, const StepContext&) { return output; };
}

template <class Exception>
Handler throwing(Exception exception) {
    return [exception](const Payload&, const StepContext&) -> Payload { throw exception; };
}

TEST(Call, returns_the_output_as_it_is) {
    const CallResult result =
        call_handler(returning(R"({ "a" : 1 })"), "1", StepContext{}, small_limits());
    EXPECT_EQ(std::get<Payload>(result), R"({ "a" : 1 })");
}

TEST(Call, an_exception_is_a_failure_that_is_retried) {
    const Failure failure = failure_of(throwing(std::runtime_error("boom")));
    EXPECT_EQ(failure.code, "error");
    EXPECT_EQ(failure.message, "boom");
    EXPECT_FALSE(failure.is_permanent);
}

TEST(Call, a_permanent_error_keeps_its_code) {
    const Failure failure = failure_of(throwing(PermanentError("no such card", "card")));
    EXPECT_EQ(failure.code, "card");
    EXPECT_TRUE(failure.is_permanent);
}

TEST(Call, retry_after_sets_the_delay_and_a_negative_one_is_none) {
    EXPECT_EQ(failure_of(throwing(RetryAfter("busy", 3s))).retry_after, Duration(3s));
    EXPECT_EQ(failure_of(throwing(RetryAfter("busy", -3s))).retry_after, Duration(0));
    // Added to a date it must still be one.
    const auto longest = failure_of(throwing(RetryAfter("busy", Duration::max()))).retry_after;
    ASSERT_TRUE(longest);
    EXPECT_GT(*longest, Duration(24h * 366));
    EXPECT_LT(*longest, TimePoint::max() - SystemClock().now());
}

TEST(Call, a_handler_failure_keeps_its_details_and_rubbish_details_become_a_string) {
    HandlerFailure::Options options;
    options.code = "http";
    options.details = R"({"status":503})";
    EXPECT_EQ(failure_of(throwing(HandlerFailure("down", options))).details, R"({"status":503})");
    options.details = "not json";
    EXPECT_EQ(failure_of(throwing(HandlerFailure("down", options))).details, R"("not json")");
}

TEST(Call, survives_what_is_not_an_exception_at_all) {
    EXPECT_EQ(failure_of(throwing(42)).code, "error");
    EXPECT_FALSE(failure_of(throwing("text")).is_permanent);
}

TEST(Call, an_output_that_json_does_not_have_fails_for_good_and_names_its_place) {
    const auto returns = [](const auto& value) {
        return [value](const Payload&, const StepContext&) { return Payload::of(value); };
    };
    using Prices = std::map<std::string, double>;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Failure failure = failure_of(returns(Prices{{"a", 1.5}, {"b", nan}}));
    EXPECT_EQ(failure.code, "invalid_output");
    EXPECT_TRUE(failure.is_permanent);
    EXPECT_TRUE(failure.message.starts_with("The value cannot be written as JSON: \"/b\" is NaN"))
        << failure.message;
    EXPECT_EQ(failure_of(returns(-1 / 0.0)).code, "invalid_output");
    EXPECT_EQ(failure_of(returns(std::string("\xff"))).code, "invalid_output");
    EXPECT_TRUE(failure_of(returns(std::string("\xff"))).is_permanent);
}

TEST(Call, an_output_that_is_not_json_fails_for_good) {
    for (const char* output : {"", "{", "nan", "\"\xff\"", "\"\\u0000\"", "1 2"}) {
        const Failure failure = failure_of(returning(output));
        EXPECT_EQ(failure.code, "invalid_output") << output;
        EXPECT_TRUE(failure.is_permanent) << output;
    }
}

TEST(Call, bounds_the_size_and_the_depth_of_the_output) {
    const Payload at_limit = '"' + std::string(98, 'x') + '"';
    const Payload above = '"' + std::string(99, 'x') + '"';
    const CallResult result = call_handler(returning(at_limit), "1", StepContext{}, small_limits());
    EXPECT_TRUE(std::holds_alternative<Payload>(result));
    EXPECT_EQ(failure_of(returning(above)).code, "invalid_output");
    const CallResult deep = call_handler(returning("[[[1]]]"), "1", StepContext{}, small_limits());
    EXPECT_TRUE(std::holds_alternative<Payload>(deep));
    EXPECT_EQ(failure_of(returning("[[[[1]]]]")).code, "invalid_output");
}

TEST(Call, cuts_and_cleans_the_message) {
    const Failure failure = failure_of(throwing(std::runtime_error("\xff" + std::string(99, 'x'))));
    EXPECT_LE(failure.message.size(), 64U);
    EXPECT_TRUE(failure.message.starts_with("\xEF\xBF\xBDx"));
}

}  // namespace
}  // namespace ebb
