// Goal: the variables of the OpenTelemetry specification mean what it says. Method: a map instead
// of the environment.

#include <map>

#include <gmock/gmock.h>

#include <ebb/error.h>
#include <ebb/telemetry.h>

namespace ebb {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::optional<TelemetryOptions> read(const std::map<std::string, std::string>& variables) {
    return telemetry_from_environment([&](const std::string& name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        if (found == variables.end()) return std::nullopt;
        return found->second;
    });
}

std::string problem_of(const std::map<std::string, std::string>& variables) {
    try {
        const auto options = read(variables);
        return options ? "accepted" : "none";
    } catch (const Error& error) {
        return error.what();
    }
}

TEST(TelemetryEnvironment, Without_an_endpoint_there_are_no_traces) {
    EXPECT_FALSE(read({}));
    EXPECT_FALSE(read({{"OTEL_SERVICE_NAME", "shop"}}));
    EXPECT_FALSE(read({{"OTEL_EXPORTER_OTLP_ENDPOINT", ""}}));
}

TEST(TelemetryEnvironment, Spans_go_below_the_endpoint_of_all_signals_or_to_their_own) {
    EXPECT_EQ(
        read({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://a:4318"}})->url, "http://a:4318/v1/traces"
    );
    EXPECT_EQ(
        read({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://a/otlp/"}})->url, "http://a/otlp/v1/traces"
    );
    EXPECT_EQ(
        read({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://a"},
              {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://b/x"}})
            ->url,
        "http://b/x"
    );
}

TEST(TelemetryEnvironment, An_endpoint_that_is_not_a_url_names_its_variable) {
    for (const char* name : {"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"}) {
        EXPECT_THAT(
            problem_of({{name, "localhost:4318"}}),
            HasSubstr(std::string(name) + " is not a URL that begins with http")
        );
    }
}

TEST(TelemetryEnvironment, Headers_and_attributes_are_percent_encoded_lists) {
    const auto options = read(
        {{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://a"},
         {"OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Basic%20abc%3D, x-team = ebb"},
         {"OTEL_RESOURCE_ATTRIBUTES", "service.name=shop,deployment.environment=test"}}
    );
    EXPECT_THAT(
        options->headers, ElementsAre(Pair("Authorization", "Basic abc="), Pair("x-team", "ebb"))
    );
    EXPECT_EQ(options->service_name, "shop");
    EXPECT_THAT(options->resource, ElementsAre(Pair("deployment.environment", "test")));
}

TEST(TelemetryEnvironment, A_sampler_takes_a_share_or_nothing) {
    const std::pair<const std::string, std::string> endpoint{
        "OTEL_EXPORTER_OTLP_ENDPOINT", "http://a"
    };
    EXPECT_EQ(
        read({endpoint, {"OTEL_TRACES_SAMPLER", "traceidratio"}, {"OTEL_TRACES_SAMPLER_ARG", "0.25"}
             })
            ->sampled,
        0.25
    );
    EXPECT_FALSE(read({endpoint, {"OTEL_TRACES_SAMPLER", "always_off"}}));
    EXPECT_FALSE(read({endpoint, {"OTEL_SDK_DISABLED", "true"}}));
}

TEST(TelemetryEnvironment, A_problem_names_its_variable) {
    const std::pair<const std::string, std::string> endpoint{
        "OTEL_EXPORTER_OTLP_ENDPOINT", "http://a"
    };
    EXPECT_THAT(
        problem_of({endpoint, {"OTEL_EXPORTER_OTLP_HEADERS", "x"}}),
        HasSubstr("OTEL_EXPORTER_OTLP_HEADERS is not a list such as")
    );
    EXPECT_THAT(
        problem_of({endpoint, {"OTEL_EXPORTER_OTLP_HEADERS", "x=%2"}}),
        HasSubstr("OTEL_EXPORTER_OTLP_HEADERS has a %")
    );
    EXPECT_THAT(
        problem_of(
            {endpoint, {"OTEL_TRACES_SAMPLER", "traceidratio"}, {"OTEL_TRACES_SAMPLER_ARG", "2"}}
        ),
        HasSubstr("OTEL_TRACES_SAMPLER_ARG is not a number from 0 to 1")
    );
    EXPECT_THROW(make_telemetry({.url = "ftp://a"}), Error);
    EXPECT_THROW(make_telemetry({.url = "http://a", .headers = {{"a b", "c"}}}), Error);
}

}  // namespace
}  // namespace ebb
