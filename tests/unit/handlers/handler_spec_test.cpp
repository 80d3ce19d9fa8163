// Goal: every mistake in a handler entry is found before anything runs, all at once, each with its
// place and remedy. Method: validate_handler_spec on entries with one mistake each, and at every
// limit and one above.
#include "handlers/spec.h"
#include "unit/handlers/handler_harness.h"

namespace ebb {
namespace {

using ::testing::HasSubstr;

std::vector<Diagnostic> problems_of(const Json& spec) {
    return validate_handler_spec("pay", spec.dump());
}

/// The only problem of `spec`.
Diagnostic problem_of(const Json& spec) {
    const auto problems = problems_of(spec);
    EXPECT_EQ(problems.size(), 1U) << spec;
    for (std::size_t i = 1; i < problems.size(); ++i) ADD_FAILURE() << problems[i].message;
    return problems.empty() ? Diagnostic() : problems.front();
}

void expect_problem(
    const Json& spec, const std::string& code, const std::string& path, const std::string& part
) {
    const Diagnostic problem = problem_of(spec);
    EXPECT_EQ(problem.code, code) << spec;
    EXPECT_EQ(problem.path, "/handlers/pay" + path) << spec;
    EXPECT_THAT(problem.message, HasSubstr(part));
}

Json exec_with(const Json& more) {
    Json spec = {{"exec", {"true"}}};
    spec.update(more);
    return spec;
}

Json http_with(const Json& more) {
    Json http = {{"url", "https://pay.test/"}};
    http.update(more);
    return {{"http", http}};
}

TEST(HandlerSpec, accepts_what_the_documentation_shows) {
    EXPECT_EQ(problems_of({{"exec", "echo hi"}}), std::vector<Diagnostic>());
    EXPECT_EQ(
        problems_of(
            {{"exec", {"./charge", "--amount", "${input.amount}", 5, true}},
             {"env", {{"REGION", "eu"}, {"N", 5}}},
             {"pass_env", {"API_TOKEN"}},
             {"cwd", "scripts"},
             {"timeout", "30s"},
             {"grace", "2s"},
             {"max_output", "64KiB"},
             {"output", "text"},
             {"permanent_exit_codes", {65, 255}}}
        ),
        std::vector<Diagnostic>()
    );
    EXPECT_EQ(
        problems_of(http_with(
            {{"method", "PUT"},
             {"url", "https://${input.host}/orders/${input.id}"},
             {"headers", {{"Authorization", "Bearer ${env.TOKEN}"}}},
             {"body", {{"a", {1, "${input.a}"}}}},
             {"pass_env", {"TOKEN"}},
             {"allow_hosts", {"*.pay.test"}},
             {"proxy", "http://proxy.test:3128"},
             {"ca_file", "ca.pem"},
             {"client_cert", "c.pem"},
             {"client_key", "k.pem"},
             {"timeout", "5s"},
             {"max_response", 1000},
             {"output", "none"}}
        )),
        std::vector<Diagnostic>()
    );
}

TEST(HandlerSpec, is_an_object_with_either_exec_or_http) {
    EXPECT_EQ(validate_handler_spec("pay", "{").at(0).code, "invalid_json");
    expect_problem(Json::array(), "wrong_type", "", "must be an object");
    expect_problem(Json::object(), "missing_key", "", "\"exec\" (a program to run) or \"http\"");
    expect_problem(
        {{"exec", "a"}, {"http", {{"url", "https://a/"}}}}, "conflicting_keys", "", "not both"
    );
    expect_problem({{"exec", 5}}, "wrong_type", "/exec", "a list (program and arguments)");
    expect_problem({{"http", "https://a/"}}, "wrong_type", "/http", "must be an object");
    const auto problems = problems_of({{"htpp", {{"url", "https://a/"}}}});
    ASSERT_EQ(problems.size(), 2U);
    EXPECT_EQ(problems[0].message, "There is no key \"htpp\" here. Did you mean \"http\"?");
}

TEST(HandlerSpec, unknown_keys_are_errors_with_a_suggestion) {
    expect_problem(
        exec_with({{"time_out", "5s"}}), "unknown_key", "/time_out", "Did you mean \"timeout\"?"
    );
    expect_problem(
        exec_with({{"zzzzzzzzzzz", 1}}), "unknown_key", "/zzzzzzzzzzz", "Known are exec, "
    );
    expect_problem(
        http_with({{"header", {}}}), "unknown_key", "/http/header", "Did you mean \"headers\"?"
    );
    for (const char* word : {"run", "command", "cmd", "shell", "script"}) {
        const auto problems = problems_of({{word, "cat"}});
        EXPECT_THAT(problems.at(0).message, ::testing::HasSubstr("Did you mean \"exec\"?")) << word;
    }
    expect_problem(
        exec_with({{"a/b~c", 1}}), "unknown_key", "/a~1b~0c", "There is no key \"a/b~c\""
    );
}

TEST(HandlerSpec, the_program_is_a_fixed_name) {
    expect_problem(
        {{"exec", {"${input.program}"}}},
        "invalid_value",
        "/exec/0",
        "data must not choose what is run"
    );
    expect_problem({{"exec", Json::array()}}, "invalid_value", "/exec", "at most 256");
    expect_problem({{"exec", {""}}}, "invalid_value", "/exec/0", "must be a fixed name");
    expect_problem({{"exec", {"a", {{"b", 1}}}}}, "wrong_type", "/exec/1", "must be a text");
    Json many = Json::array();
    for (std::size_t i = 0; i < HandlerLimits::kArgumentsMax; ++i) many.push_back("a");
    EXPECT_TRUE(problems_of({{"exec", many}}).empty());
    many.push_back("a");
    expect_problem({{"exec", many}}, "invalid_value", "/exec", "at most 256");
}

TEST(HandlerSpec, a_script_has_bounds_and_may_name_its_interpreter) {
    expect_problem({{"exec", ""}}, "invalid_value", "/exec", "1 to 262144 bytes");
    EXPECT_TRUE(problems_of({{"exec", std::string(HandlerLimits::kScriptBytesMax, 'x')}}).empty());
    expect_problem(
        {{"exec", std::string(HandlerLimits::kScriptBytesMax + 1, 'x')}},
        "invalid_value",
        "/exec",
        "262144"
    );
    EXPECT_TRUE(problems_of({{"exec", "x"}, {"interpreter", {"bash", "-euo", "pipefail"}}}).empty()
    );
    expect_problem(
        {{"exec", "x"}, {"interpreter", "bash"}}, "wrong_type", "/interpreter", "a list of 1 to 256"
    );
    expect_problem(
        exec_with({{"interpreter", {"bash"}}}),
        "conflicting_keys",
        "/interpreter",
        "belongs to a script"
    );
}

TEST(HandlerSpec, expressions_are_compiled_at_once) {
    EXPECT_EQ(problem_of({{"exec", {"a", "${"}}}).code, "invalid_expression");
    EXPECT_EQ(problem_of({{"exec", {"a", "${"}}}).path, "/handlers/pay/exec/1");
    expect_problem(
        exec_with({{"env", {{"A", "${nothing}"}}}}),
        "unknown_variable",
        "/env/A",
        "no variable \"nothing\""
    );
    expect_problem(
        exec_with({{"env", {{"A", "${steps.a.output}"}}}}),
        "unknown_variable",
        "/env/A",
        "pass the data in the \"input\""
    );
    EXPECT_EQ(problem_of(http_with({{"url", "https://a/${"}})).path, "/handlers/pay/http/url");
    expect_problem(
        http_with({{"url", "https://a/${nothing}"}}),
        "unknown_variable",
        "/http/url",
        "there are input, payload, instance"
    );
    expect_problem(
        http_with({{"body", {{"a", "${b}"}}}}), "unknown_variable", "/http/body", "\"b\""
    );
    expect_problem(
        exec_with({{"env", {{"A", "${ instance.key }"}}}}),
        "unknown_field",
        "/env/A",
        "instance has no field \"key\"; it has id."
    );
    expect_problem(
        http_with({{"url", "https://a/${ workflow.nmae }"}}),
        "unknown_field",
        "/http/url",
        "Did you mean \"name\"?"
    );
    expect_problem(
        http_with({{"body", {{"a", "${ attempt.count }"}}}}),
        "unknown_field",
        "/http/body",
        "attempt is an int"
    );
    // A script is not a template.
    EXPECT_TRUE(problems_of({{"exec", "echo ${nothing} ${"}}).empty());
}

TEST(HandlerSpec, variables_have_names_that_ebb_does_not_use) {
    expect_problem(
        exec_with({{"env", {{"1A", ""}}}}), "invalid_value", "/env/1A", "letters, digits and _"
    );
    expect_problem(
        exec_with({{"env", {{"EBB_STEP", ""}}}}), "invalid_value", "/env/EBB_STEP", "EBB_"
    );
    expect_problem(exec_with({{"env", {{"A=B", ""}}}}), "invalid_value", "/env/A=B", "letters");
    expect_problem(
        exec_with({{"env", {{"A", Json::array()}}}}), "wrong_type", "/env/A", "must be a text"
    );
    expect_problem(exec_with({{"env", {"A"}}}), "wrong_type", "/env", "must be an object");
    expect_problem(exec_with({{"pass_env", {"A-B"}}}), "invalid_value", "/pass_env/0", "A-B");
    expect_problem(
        exec_with({{"pass_env", {"OK", "EBB_X"}}}), "invalid_value", "/pass_env/1", "EBB_X"
    );
    expect_problem(exec_with({{"pass_env", "HOME"}}), "wrong_type", "/pass_env", "must be a list");
}

TEST(HandlerSpec, durations_and_sizes_have_limits) {
    for (const Json& wrong : {Json("0s"), Json("soon"), Json(30), Json("-1s"), Json("8d")}) {
        expect_problem(exec_with({{"timeout", wrong}}), "invalid_value", "/timeout", "such as 30s");
    }
    EXPECT_TRUE(problems_of(exec_with({{"timeout", "7d"}})).empty());
    EXPECT_TRUE(problems_of(exec_with({{"grace", "10m"}})).empty());
    expect_problem(exec_with({{"grace", "601s"}}), "invalid_value", "/grace", "at most");
    for (const Json& wrong :
         {Json(0), Json(-1), Json("1GB"), Json("KiB"), Json(1.5), Json("9MiB"), Json("")}) {
        EXPECT_EQ(problem_of(exec_with({{"max_output", wrong}})).path, "/handlers/pay/max_output")
            << wrong;
    }
    EXPECT_TRUE(problems_of(exec_with({{"max_output", "8MiB"}})).empty());
    EXPECT_TRUE(problems_of(exec_with({{"max_output", HandlerLimits::kOutputBytesMax}})).empty());
    EXPECT_EQ(
        problem_of(exec_with({{"max_output", HandlerLimits::kOutputBytesMax + 1}})).code,
        "invalid_value"
    );
}

TEST(HandlerSpec, other_values_are_checked) {
    expect_problem(
        exec_with({{"output", "xml"}}), "invalid_value", "/output", "json, text or none"
    );
    expect_problem(exec_with({{"cwd", 5}}), "wrong_type", "/cwd", "must be a text");
    for (const Json& wrong :
         {Json(65), Json::array({0}), Json::array({256}), Json::array({"65"}), Json::array({1.5})
         }) {
        expect_problem(
            exec_with({{"permanent_exit_codes", wrong}}),
            "invalid_value",
            "/permanent_exit_codes",
            "from 1 to 255"
        );
    }
    expect_problem(
        http_with({{"method", "get"}}), "invalid_value", "/http/method", "GET, HEAD, POST"
    );
    expect_problem(
        http_with({{"method", "GET"}, {"body", 1}}), "conflicting_keys", "/http/body", "has no body"
    );
    expect_problem(
        http_with({{"client_key", "k.pem"}}), "missing_key", "/http/client_cert", "needs"
    );
}

TEST(HandlerSpec, a_url_is_http_and_its_host_is_fixed_or_allowed) {
    expect_problem({{"http", Json::object()}}, "missing_key", "/http/url", "needs a \"url\"");
    for (const char* url : {"pay.test/x", "ftp://pay.test/", "file:///etc/passwd", "HTTPS:/x"}) {
        expect_problem(
            http_with({{"url", url}}), "invalid_value", "/http/url", "https:// or http://"
        );
    }
    for (const char* url :
         {"${input.url}", "https://${input.host}/", "https://pay.test${input.rest}"}) {
        expect_problem(
            http_with({{"url", url}}),
            "missing_key",
            "/http/allow_hosts",
            "the hosts that may be called"
        );
    }
    for (const char* url : {"https://pay.test/${input.id}", "https://pay.test?a=${input.id}"}) {
        EXPECT_TRUE(problems_of(http_with({{"url", url}})).empty()) << url;
    }
}

TEST(HandlerSpec, headers_have_names_that_ebb_does_not_set) {
    for (const char* name :
         {"Idempotency-Key", "content-length", "EBB-Step", "Host", "Transfer-Encoding"}) {
        EXPECT_THAT(
            problem_of(http_with({{"headers", {{name, "x"}}}})).message, HasSubstr("is set by Ebb")
        ) << name;
    }
    for (const char* name : {"", "a b", "a:", "a\r\nb", "ü"}) {
        EXPECT_THAT(
            problem_of(http_with({{"headers", {{name, "x"}}}})).message,
            HasSubstr("not a name of a header")
        );
    }
}

TEST(HandlerSpec, all_problems_are_reported_at_once) {
    const auto problems =
        problems_of(exec_with({{"timeout", "x"}, {"output", "y"}, {"cwd", 1}, {"foo", 1}}));
    EXPECT_EQ(problems.size(), 4U);
    try {
        make_handler("pay", exec_with({{"timeout", "x"}, {"output", "y"}}).dump(), "/");
        ADD_FAILURE() << "the handler was made";
    } catch (const DefinitionError& error) {
        EXPECT_EQ(error.diagnostics().size(), 2U);
    }
}

Definition a_definition(int version, const std::string& says) {
    Definition definition;
    definition.name = "order";
    definition.version = version;
    definition.handlers["say"] = Json{{"exec", {"echo", says}}}.dump();
    return definition;
}

StepContext context_of(int version) {
    StepContext context = a_context();
    context.workflow_version = version;
    return context;
}

TEST(DefinitionHandlers, are_registered_under_their_names) {
    HandlerRegistry registry;
    register_definition_handlers(registry, a_definition(1, "1"), "/");
    EXPECT_EQ(registry.names(), std::vector<std::string>{"say"});
    EXPECT_EQ((*registry.find("say"))("{}", context_of(1)), "1\n");
    EXPECT_THROW(register_definition_handlers(registry, a_definition(1, "1"), "/"), Error);
}

TEST(DefinitionHandlers, with_problems_register_nothing) {
    Definition definition = a_definition(1, "1");
    definition.handlers["broken"] = R"({"exec": []})";
    definition.handlers["worse"] = "[]";
    HandlerRegistry registry;
    try {
        register_definition_handlers(registry, definition, "/");
        ADD_FAILURE() << "they were registered";
    } catch (const DefinitionError& error) {
        EXPECT_EQ(error.diagnostics().size(), 2U);
    }
    EXPECT_TRUE(registry.names().empty());
}

TEST(DefinitionHandlers, are_not_called_with_expressions_that_nothing_fills_in) {
    Definition definition = a_definition(1, "1");
    Node own;
    own.name = "first";
    own.kind = Step{.handler = "say", .input = R"({"a":[1,"Bearer $${ secrets.token }"]})"};
    Node other = own;
    other.name = "second";
    std::get<Step>(other.kind).handler = "of another program";
    definition.steps = {own, other};
    HandlerRegistry registry;
    try {
        register_definition_handlers(registry, definition, "/");
        ADD_FAILURE() << "they were registered";
    } catch (const DefinitionError& error) {
        ASSERT_EQ(error.diagnostics().size(), 1U);
        EXPECT_EQ(error.diagnostics()[0].code, "late_expression");
        EXPECT_EQ(error.diagnostics()[0].path, "/steps/0/input/a/1");
        EXPECT_NE(error.diagnostics()[0].message.find("pass_env"), std::string::npos);
    }
    EXPECT_THROW(register_definition_handlers(registry, {{&definition, "/"}}), DefinitionError);
    EXPECT_TRUE(registry.names().empty());
}

TEST(DefinitionHandlers, of_several_versions_serve_the_instances_of_their_own) {
    const Definition first = a_definition(1, "1");
    const Definition second = a_definition(2, "2");
    HandlerRegistry registry;
    register_definition_handlers(registry, {{&first, "/"}, {&second, "/"}});
    const Handler& say = *registry.find("say");
    EXPECT_EQ(say("{}", context_of(1)), "1\n");
    EXPECT_EQ(say("{}", context_of(2)), "2\n");
    try {
        say("{}", context_of(3));
        ADD_FAILURE() << "a version that is not here was served";
    } catch (const HandlerFailure& failure) {
        EXPECT_EQ(failure.options().code, "handler_not_found");
        EXPECT_FALSE(failure.options().is_permanent);
    }
}

}  // namespace
}  // namespace ebb
