// Goal: programs and scripts see what the documentation promises and nothing else; whatever they do
// becomes an output or a precise failure. Method: real programs, called through make_handler as the
// engine does.
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

#include "handlers/spec.h"
#include "support/os_file.h"
#include "unit/handlers/handler_harness.h"

namespace ebb {
namespace {

using namespace std::chrono_literals;

Json script(const std::string& text) {
    return Json{{"exec", text}};
}

TEST(ExecHandler, gives_the_input_on_stdin_and_takes_json_from_stdout) {
    EXPECT_EQ(call({{"exec", {"cat"}}}, R"({"a": [1, "ü"]})"), R"({"a": [1, "ü"]})");
    EXPECT_EQ(call(script("printf '{\"ok\": true}\\n'"), "{}"), "{\"ok\": true}\n");
}

TEST(ExecHandler, gives_the_input_as_a_private_file_that_goes_afterwards) {
    const Json spec = script(R"sh(
        cmp -s "$EBB_INPUT_FILE" -
        stat -c '{"mode": %a, "path": "%n"}' "$EBB_INPUT_FILE"
    )sh");
    const Json paths = Json::parse(call(spec, R"({"big": "data"})"));
    EXPECT_EQ(paths["mode"], 600);
    EXPECT_FALSE(std::filesystem::exists(paths["path"].get<std::string>()));
}

TEST(ExecHandler, an_input_of_megabytes_need_not_fit_into_pipes_or_arguments) {
    const Payload input = Json(std::string(1'000'000, 'x')).dump();
    EXPECT_EQ(call({{"exec", {"cat"}}}, input), input);
    EXPECT_EQ(call(script("wc -c < \"$EBB_INPUT_FILE\""), input), "1000002\n");
}

TEST(ExecHandler, passes_the_instance_and_step_to_the_program) {
    const Json spec = script(R"sh(
        printf '["%s","%s",%s,' "$EBB_INSTANCE_ID" "$EBB_WORKFLOW" "$EBB_WORKFLOW_VERSION"
        printf '"%s",%s,"%s",' "$EBB_STEP" "$EBB_ATTEMPT" "$EBB_IDEMPOTENCY_KEY"
        printf '"%s"]' "${EBB_COMPENSATION-none}"
    )sh");
    EXPECT_EQ(
        Json::parse(call(spec, "{}")),
        Json::array({"017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "order", 3, "pay", 2, "key-1", "none"})
    );
}

TEST(ExecHandler, tells_a_compensation_what_it_undoes) {
    StepContext context = a_context();
    context.compensates = CompensatedStep{
        .idempotency_key = "key-0",
        .input = R"({"in": 1})",
        .output = "",
        .error = R"({"code": "exit_3"})",
        .outcome = CompensatedStep::Outcome::Failed,
    };
    const Json spec = script(R"sh(
        printf '["%s","%s",' "$EBB_COMPENSATION" "$EBB_FORWARD_OUTCOME"
        printf '"%s","%s",' "$EBB_FORWARD_IDEMPOTENCY_KEY" "${EBB_FORWARD_OUTPUT_FILE-none}"
        cat "$EBB_FORWARD_INPUT_FILE"; printf ,; cat "$EBB_FORWARD_ERROR_FILE"; printf ]
    )sh");
    EXPECT_EQ(
        Json::parse(call(spec, "{}", context)),
        Json::parse(R"(["1", "failed", "key-0", "none", {"in": 1}, {"code": "exit_3"}])")
    );
}

TEST(ExecHandler, passes_on_no_variable_that_was_not_named) {
    ASSERT_EQ(::setenv("EBB_TEST_NOT_NAMED", "secret", 1), 0);
    ASSERT_EQ(::setenv("TEST_NAMED", "passed on", 1), 0);
    const Json spec = {
        {"exec", {"env"}},
        {"output", "text"},
        {"pass_env", {"TEST_NAMED", "TEST_NOT_SET"}},
        {"env", {{"MINE", "1"}}},
    };
    const std::string all =
        Json::parse(call(spec, R"({"field": "of the input"})")).get<std::string>();
    EXPECT_THAT(all, ::testing::Not(testing::HasSubstr("of the input")));
    std::map<std::string, std::string> visible;
    std::istringstream lines(all);
    for (std::string line; std::getline(lines, line);) {
        visible[line.substr(0, line.find('='))] = line.substr(line.find('=') + 1);
    }
    EXPECT_EQ(visible["TEST_NAMED"], "passed on");
    EXPECT_EQ(visible["MINE"], "1");
    EXPECT_NE(visible["PATH"], "");
    for (const auto& [name, value] : visible) {
        EXPECT_THAT(
            name,
            ::testing::AnyOf(
                ::testing::MatchesRegex("EBB_(INSTANCE_ID|WORKFLOW|WORKFLOW_VERSION|STEP|ATTEMPT)"),
                ::testing::MatchesRegex("EBB_(IDEMPOTENCY_KEY|INPUT_FILE)"),
                ::testing::MatchesRegex("PATH|HOME|LANG|TZ|TEST_NAMED|MINE")
            )
        );
    }
    ::unsetenv("EBB_TEST_NOT_NAMED");
    ::unsetenv("TEST_NAMED");
}

TEST(ExecHandler, puts_expressions_into_arguments_and_variables_only) {
    const Json spec = {
        {"exec",
         {"sh",
          "-c",
          "printf '%s|' \"$@\" \"$AMOUNT\"",
          "x",
          "${input.name}",
          "n=${input.amount}",
          "$${x}"}},
        {"env", {{"AMOUNT", "${input.amount + 1}"}}},
        {"output", "text"},
    };
    EXPECT_EQ(
        Json::parse(call(spec, R"({"name": "a b; rm -rf '$HOME'", "amount": 41})")),
        "a b; rm -rf '$HOME'|n=41|${x}|42|"
    );
    // In a script, ${...} is the shell's.
    EXPECT_EQ(call({{"exec", "X=1; printf \"${X}\""}}, "{}"), "1");
}

TEST(ExecHandler, sees_the_call_in_expressions) {
    ASSERT_EQ(::setenv("TEST_TOKEN", "t0ken", 1), 0);
    const Json spec = {
        {"exec",
         {"printf",
          "%s",
          "${instance.id} ${workflow.name} ${workflow.version} ${step} ${attempt} "
          "${idempotency_key} ${env.TEST_TOKEN}"}},
        {"pass_env", {"TEST_TOKEN"}},
        {"output", "text"},
    };
    EXPECT_EQ(
        Json::parse(call(spec, "{}")),
        "017f22e2-79b0-7cc3-98c4-dc0c0c07398f order 3 pay 2 key-1 t0ken"
    );
    ::unsetenv("TEST_TOKEN");
}

TEST(ExecHandler, an_expression_that_cannot_be_evaluated_fails_for_good) {
    const Failed failed = failure_of({{"exec", {"echo", "${input.nothing.here}"}}});
    EXPECT_EQ(failed.options.code, "expression_failed");
    EXPECT_TRUE(failed.options.is_permanent);
    EXPECT_THAT(failed.message, ::testing::HasSubstr("The argument 1 of the handler \"charge\""));
}

TEST(ExecHandler, output_modes_decide_about_stdout) {
    const Json text = {{"exec", {"printf", "two\\nlines\\n"}}, {"output", "text"}};
    EXPECT_EQ(Json::parse(call(text, "{}")), "two\nlines");
    EXPECT_EQ(Json::parse(call({{"exec", {"true"}}, {"output", "text"}}, "{}")), "");
    EXPECT_EQ(
        call({{"exec", {"echo", "progress..."}}, {"output", "none"}}, R"({"a":1})"), R"({"a":1})"
    );
    EXPECT_EQ(call({{"exec", {"true"}}}, R"({"a":1})"), R"({"a":1})");
    EXPECT_EQ(call({{"exec", {"printf", " \\n"}}}, R"({"a":1})"), R"({"a":1})");
}

TEST(ExecHandler, an_answer_that_cannot_be_an_output_fails_for_good) {
    for (const std::string answer :
         {"not json", "{} {}", "\"\\377\"", "[\\000]", "\"\\\\u0000\""}) {
        const Failed failed = failure_of({{"exec", {"printf", answer}}});
        EXPECT_EQ(failed.options.code, "invalid_output") << answer;
        EXPECT_TRUE(failed.options.is_permanent);
    }
    EXPECT_THAT(
        failure_of({{"exec", {"printf", "not json"}}}).message,
        ::testing::AllOf(
            ::testing::HasSubstr("It begins with \"not json\""), testing::HasSubstr("output: text")
        )
    );
    for (const std::string answer : {"\\377\\376", "a\\000b"}) {
        const Failed failed = failure_of({{"exec", {"printf", answer}}, {"output", "text"}});
        EXPECT_EQ(failed.options.code, "invalid_output") << answer;
    }
}

TEST(ExecHandler, may_answer_with_max_output_and_not_one_byte_more) {
    const Json fits = {{"exec", {"sh", "-c", "printf '\"%0998d\"' 0"}}, {"max_output", 1'000}};
    EXPECT_EQ(call(fits, "{}").size(), 1'000U);
    Json above = fits;
    above["max_output"] = 999;
    const Failed failed = failure_of(above);
    EXPECT_EQ(failed.options.code, "output_too_large");
    EXPECT_TRUE(failed.options.is_permanent);
    EXPECT_THAT(failed.message, ::testing::HasSubstr("more than the 999 bytes"));
}

TEST(ExecHandler, an_exit_code_is_a_failure_with_the_end_of_stderr) {
    const Failed failed = failure_of(script("echo first >&2; echo 'card declined' >&2; exit 3"));
    EXPECT_EQ(failed.options.code, "exit_3");
    EXPECT_FALSE(failed.options.is_permanent);
    EXPECT_EQ(
        failed.message, "card declined (the script of the handler \"charge\" exited with code 3)"
    );
    EXPECT_EQ(
        failed.details,
        (Json{{"exit_code", 3}, {"signal", nullptr}, {"stderr", "first\ncard declined\n"}})
    );
}

TEST(ExecHandler, some_exit_codes_are_permanent) {
    Json spec = script("exit 65");
    spec["permanent_exit_codes"] = {64, 65};
    EXPECT_TRUE(failure_of(spec).options.is_permanent);
    spec["permanent_exit_codes"] = {64};
    EXPECT_FALSE(failure_of(spec).options.is_permanent);
}

TEST(ExecHandler, a_signal_is_a_failure) {
    const Failed failed = failure_of(script("kill -KILL $$"));
    EXPECT_EQ(failed.options.code, "signal_9");
    EXPECT_EQ(failed.details["signal"], 9);
    EXPECT_EQ(failed.details["exit_code"], nullptr);
}

TEST(ExecHandler, stderr_in_a_failure_is_bounded_and_valid_utf8) {
    const Failed failed =
        failure_of(script("printf '\\377\\000start' >&2; head -c 100000 /dev/urandom >&2; exit 1"));
    const std::string errors = failed.details["stderr"].get<std::string>();
    EXPECT_LE(errors.size(), HandlerLimits::kErrorsBytesMax + 64);
    EXPECT_TRUE(errors.starts_with("\xEF\xBF\xBD start")) << errors.substr(0, 20);
}

TEST(ExecHandler, a_timeout_ends_it) {
    Json spec = script("echo waiting >&2; exec sleep 1000");
    spec["timeout"] = "200ms";
    const Failed failed = failure_of(spec);
    EXPECT_EQ(failed.options.code, "timeout");
    EXPECT_FALSE(failed.options.is_permanent);
    EXPECT_THAT(failed.message, ::testing::HasSubstr("took longer than 200ms"));
    EXPECT_EQ(failed.details["stderr"], "waiting\n");
}

TEST(ExecHandler, the_stop_token_ends_it) {
    std::stop_source source;
    StepContext context = a_context();
    context.stop = source.get_token();
    std::jthread stopper([&source] { source.request_stop(); });
    EXPECT_EQ(failure_of(script("exec sleep 1000"), "{}", context).options.code, "stopped");
}

TEST(ExecHandler, a_program_that_is_missing_may_be_there_at_the_next_attempt) {
    const Failed failed = failure_of({{"exec", {"no-such-program"}}});
    EXPECT_EQ(failed.options.code, "not_started");
    EXPECT_FALSE(failed.options.is_permanent);
    EXPECT_THAT(failed.message, ::testing::HasSubstr("\"no-such-program\" was not found in PATH"));
}

TEST(ExecHandler, works_in_the_definition_s_directory_or_below_it) {
    const TempDirectory base;
    std::filesystem::create_directory(base.path() / "scripts");
    std::ofstream(base.path() / "scripts" / "data") << "below";
    std::ofstream(base.path() / "data") << "here";
    const Json here = {{"exec", {"cat", "data"}}, {"output", "text"}};
    EXPECT_EQ(make_handler("h", here.dump(), base.path())("{}", a_context()), "\"here\"");
    Json below = here;
    below["cwd"] = "scripts";
    EXPECT_EQ(make_handler("h", below.dump(), base.path())("{}", a_context()), "\"below\"");
    below["cwd"] = "nowhere";
    EXPECT_THROW(make_handler("h", below.dump(), base.path())("{}", a_context()), HandlerFailure);
}

TEST(ExecHandler, a_script_stops_at_the_first_error_and_at_unset_variables) {
    EXPECT_EQ(failure_of(script("false; echo '{}'")).options.code, "exit_1");
    EXPECT_EQ(failure_of(script("echo \"$NO_SUCH_VARIABLE\"")).options.code, "exit_2");
}

TEST(ExecHandler, a_script_may_have_another_interpreter) {
    Json spec = {{"exec", "set -o pipefail; false | true"}, {"interpreter", {"bash", "-eu"}}};
    EXPECT_EQ(failure_of(spec).options.code, "exit_1");
    spec = {{"exec", "BEGIN { print 6 * 7 }"}, {"interpreter", {"awk", "-f"}}};
    EXPECT_EQ(call(spec, "{}"), "42\n");
}

TEST(ExecHandler, an_argument_may_be_as_long_as_the_system_allows) {
    const Json spec = {{"exec", {"sh", "-c", "printf %s \"$1\" | wc -c", "x", "${input}"}}};
    const std::string longest(HandlerLimits::kArgumentBytesMax, 'x');
    EXPECT_EQ(call(spec, Json(longest).dump()), std::to_string(longest.size()) + "\n");
    const Failed failed = failure_of(spec, Json(longest + "x").dump());
    EXPECT_EQ(failed.options.code, "argument_too_large");
    EXPECT_TRUE(failed.options.is_permanent);
}

TEST(ExecHandler, keeps_the_values_of_passed_variables_out_of_failures) {
    ASSERT_EQ(::setenv("TEST_TOKEN", "s3cret-t0ken", 1), 0);
    Json spec = script("echo \"calling with $TEST_TOKEN\" >&2; exit 1");
    spec["pass_env"] = {"TEST_TOKEN"};
    const Failed failed = failure_of(spec);
    ::unsetenv("TEST_TOKEN");
    EXPECT_EQ(failed.details["stderr"], "calling with [redacted]\n");
    EXPECT_THAT(failed.message, ::testing::Not(testing::HasSubstr("s3cret")));
}

TEST(ExecHandler, hides_a_secret_that_contains_another_one_and_its_encoded_forms) {
    ASSERT_EQ(::setenv("TEST_A", "hunter2", 1), 0);
    ASSERT_EQ(::setenv("TEST_B", "hunter2&friends", 1), 0);
    Json spec = script(
        "echo 'hunter2&friends hunter2%26friends {\"a\":\"hunter2\\u0026friends\"}' >&2; exit 1"
    );
    spec["pass_env"] = {"TEST_A", "TEST_B"};
    const Failed failed = failure_of(spec);
    EXPECT_EQ(failed.details["stderr"], "[redacted] [redacted] {\"a\":\"[redacted]\"}\n");
    EXPECT_THAT(failed.message, ::testing::Not(testing::HasSubstr("friends")));
    ::unsetenv("TEST_A");
    ::unsetenv("TEST_B");
}

TEST(ExecHandler, hides_the_parts_of_a_secret_on_both_sides_of_what_it_leaves_out) {
    ASSERT_EQ(::setenv("TEST_TOKEN", "s3cret-t0ken-of-20-by", 1), 0);
    // Half of what is kept ends 10 bytes into the secret, and the other half begins there.
    const auto pad = [](std::size_t bytes) {
        return "$(printf '%" + std::to_string(bytes) + "s' .)";
    };
    const std::size_t half = HandlerLimits::kErrorsBytesMax / 2;
    Json spec = script(
        "printf %s \"" + pad(half - 10) + "$TEST_TOKEN" + pad(900) + "$TEST_TOKEN" +
        pad(half - 10) + "\" >&2; exit 1"
    );
    spec["pass_env"] = {"TEST_TOKEN"};
    const Failed failed = failure_of(spec);
    ::unsetenv("TEST_TOKEN");
    EXPECT_THAT(failed.details.dump(), ::testing::HasSubstr("bytes left out"));
    EXPECT_THAT(failed.details.dump(), ::testing::Not(testing::HasSubstr("s3cr")));
    EXPECT_THAT(failed.details.dump(), ::testing::Not(testing::HasSubstr("0-by")));
}

TEST(ExecHandler, hides_secrets_in_an_answer_that_it_quotes) {
    ASSERT_EQ(::setenv("TEST_TOKEN", "s3cret-t0ken", 1), 0);
    Json spec = script("printf '%96s%s' . \"$TEST_TOKEN\"");
    spec["pass_env"] = {"TEST_TOKEN"};
    const Failed failed = failure_of(spec);
    ::unsetenv("TEST_TOKEN");
    EXPECT_EQ(failed.options.code, "invalid_output");
    EXPECT_THAT(failed.message, ::testing::Not(testing::HasSubstr("s3cr")));
}

TEST(ExecHandler, gets_the_payload_that_came_while_it_was_paused) {
    Json spec = script("printf '{\"data\":%s}' \"$(cat \"$EBB_PAYLOAD_FILE\")\"");
    spec["result"] = "envelope";
    StepContext context = a_context();
    context.payload = R"({"ok":true})";
    EXPECT_EQ(call(spec, "{}", context), R"({"ok":true})");
    const Json shown = {{"exec", {"printf", "%s", "${payload.ok}"}}};
    EXPECT_EQ(call(shown, "{}", context), "true");
    const Json asked = {{"exec", {"printf", "%s", "${payload == null}"}}};
    EXPECT_EQ(call(asked, "{}"), "true");
}

TEST(ExecHandler, runs_many_calls_of_one_handler_at_once) {
    const Handler handler = make_handler("h", R"({"exec": ["cat"]})", "/");
    std::vector<Payload> outputs(50);
    {
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < outputs.size(); ++i) {
            threads.emplace_back([&, i] { outputs[i] = handler(std::to_string(i), a_context()); });
        }
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) EXPECT_EQ(outputs[i], std::to_string(i));
}

}  // namespace
}  // namespace ebb
