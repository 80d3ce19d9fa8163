// Goal: HTTP handlers send what the documentation promises, and every kind of answer, silence and
// malice of a server becomes an output or the right failure. Method: a programmable server on the
// loopback interface.
#include <cstdlib>
#include <future>
#include <thread>

#include "handlers/spec.h"
#include "support/clock.h"
#include "support/http_server.h"
#include "unit/handlers/handler_harness.h"

namespace ebb {
namespace {

using namespace std::chrono_literals;
using ebb::testing::HttpServer;
using ::testing::HasSubstr;
using ::testing::Not;

/// A server that answers everything in the same way.
HttpServer::Answer always(int status, std::string body, std::vector<std::string> headers = {}) {
    return [=](const HttpServer::Request&) { return HttpServer::respond(status, body, headers); };
}

Json http(const std::string& url, Json more = Json::object()) {
    more["url"] = url;
    return Json{{"http", more}};
}

TEST(HttpHandler, posts_the_input_and_takes_the_response_as_output) {
    const HttpServer server(always(200, R"({"id": 7})"));
    EXPECT_EQ(call(http(server.url("/charges")), R"({"amount": 5})"), R"({"id": 7})");
    const auto requests = server.requests();
    ASSERT_EQ(requests.size(), 1U);
    EXPECT_EQ(requests[0].method, "POST");
    EXPECT_EQ(requests[0].target, "/charges");
    EXPECT_EQ(requests[0].body, R"({"amount": 5})");
    const auto& headers = requests[0].headers;
    EXPECT_EQ(headers.at("content-type"), "application/json");
    EXPECT_EQ(headers.at("accept"), "application/json");
    EXPECT_EQ(headers.at("idempotency-key"), "key-1");
    EXPECT_EQ(headers.at("ebb-instance-id"), "017f22e2-79b0-7cc3-98c4-dc0c0c07398f");
    EXPECT_EQ(headers.at("ebb-workflow"), "order");
    EXPECT_EQ(headers.at("ebb-step"), "pay");
    EXPECT_EQ(headers.at("ebb-attempt"), "2");
    EXPECT_FALSE(headers.contains("expect"));
    EXPECT_FALSE(headers.contains("ebb-compensation"));
}

TEST(HttpHandler, a_compensation_names_the_call_that_it_undoes) {
    const HttpServer server(always(204, ""));
    StepContext context = a_context();
    context.compensates.emplace().idempotency_key = "key-0";
    call(http(server.url("/refunds")), "{}", context);
    const auto headers = server.requests().at(0).headers;
    EXPECT_EQ(headers.at("ebb-compensation"), "1");
    EXPECT_EQ(headers.at("ebb-forward-idempotency-key"), "key-0");
}

TEST(HttpHandler, renders_url_headers_and_body) {
    ASSERT_EQ(::setenv("TEST_TOKEN", "t0ken", 1), 0);
    const HttpServer server(always(200, "1"));
    const Json spec = http(
        server.url("/orders/${input.id}/items?q=${input.q}"),
        {{"method", "PUT"},
         {"headers",
          {{"Authorization", "Bearer ${env.TEST_TOKEN}"}, {"X-Number", 5}, {"X-Empty", "${''}"}}},
         {"pass_env", {"TEST_TOKEN"}},
         {"body", {{"amount", "${input.amount}"}, {"note", "for ${input.q}"}}}}
    );
    EXPECT_EQ(call(spec, R"({"id": "a/../b?c#d e", "q": "ü&x=1", "amount": 5})"), "1");
    ::unsetenv("TEST_TOKEN");
    const auto request = server.requests().at(0);
    EXPECT_EQ(request.method, "PUT");
    EXPECT_EQ(request.target, "/orders/a%2F..%2Fb%3Fc%23d%20e/items?q=%C3%BC%26x%3D1");
    EXPECT_EQ(request.headers.at("authorization"), "Bearer t0ken");
    EXPECT_EQ(request.headers.at("x-number"), "5");
    EXPECT_EQ(request.headers.at("x-empty"), "");
    EXPECT_EQ(Json::parse(request.body), (Json{{"amount", 5}, {"note", "for ü&x=1"}}));
}

TEST(HttpHandler, a_body_that_is_a_text_is_sent_as_it_is) {
    const HttpServer server(always(200, "1"));
    call(http(server.url("/"), {{"body", "a=${input.a}"}}), R"({"a": 1})");
    call(
        http(
            server.url("/"),
            {{"body", "a=1"}, {"headers", {{"content-type", "application/x-www-form-urlencoded"}}}}
        ),
        "{}"
    );
    const auto requests = server.requests();
    EXPECT_EQ(requests.at(0).body, "a=1");
    EXPECT_EQ(requests.at(0).headers.at("content-type"), "text/plain; charset=utf-8");
    EXPECT_EQ(requests.at(1).headers.at("content-type"), "application/x-www-form-urlencoded");
}

TEST(HttpHandler, get_and_delete_send_no_body_of_their_own) {
    const HttpServer server(always(200, "1"));
    for (const char* method : {"GET", "DELETE"})
        call(http(server.url("/"), {{"method", method}}), "{}");
    for (const auto& request : server.requests()) {
        EXPECT_EQ(request.body, "");
        EXPECT_FALSE(request.headers.contains("content-type"));
    }
    EXPECT_EQ(server.requests().at(1).method, "DELETE");
}

TEST(HttpHandler, head_passes_the_input_on) {
    const HttpServer server([](const auto&) {
        return std::string("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n");
    });
    EXPECT_EQ(call(http(server.url("/"), {{"method", "HEAD"}}), "[1]"), "[1]");
}

TEST(HttpHandler, output_modes_decide_about_the_response) {
    const HttpServer server(always(200, "plain\n"));
    EXPECT_EQ(call(http(server.url("/"), {{"output", "text"}}), "{}"), "\"plain\"");
    EXPECT_EQ(call(http(server.url("/"), {{"output", "none"}}), "[1]"), "[1]");
    const Failed failed = failure_of(http(server.url("/")));
    EXPECT_EQ(failed.options.code, "invalid_output");
    EXPECT_TRUE(failed.options.is_permanent);
    const HttpServer silent(always(204, ""));
    EXPECT_EQ(call(http(silent.url("/")), "[1]"), "[1]");
    const HttpServer binary(always(200, std::string("\xff\x00", 2)));
    EXPECT_EQ(failure_of(http(binary.url("/"))).options.code, "invalid_output");
    EXPECT_EQ(
        failure_of(http(binary.url("/"), {{"output", "text"}})).options.code, "invalid_output"
    );
}

TEST(HttpHandler, keeps_the_connection_for_the_next_call) {
    const HttpServer server(always(200, "1"));
    const Handler handler = make_handler("h", http(server.url("/")).dump(), "/");
    for (int i = 0; i < 5; ++i) handler("{}", a_context());
    EXPECT_EQ(server.requests().size(), 5U);
    EXPECT_EQ(server.connection_count(), 1U);
}

TEST(HttpHandler, status_decides_whether_another_attempt_makes_sense) {
    for (const int status : {400, 401, 403, 404, 409, 410, 422, 451, 304}) {
        const HttpServer server(always(status, R"({"why": "so"})"));
        const Failed failed = failure_of(http(server.url("/x")));
        EXPECT_EQ(failed.options.code, "http_" + std::to_string(status));
        EXPECT_TRUE(failed.options.is_permanent) << status;
        if (status == 304) continue;  // it has no body by definition
        EXPECT_EQ(
            failed.details,
            (Json{
                {"method", "POST"},
                {"url", server.url("/x")},
                {"status", status},
                {"body", R"({"why": "so"})"}
            })
        );
    }
    for (const int status : {408, 425, 429, 500, 502, 503, 504}) {
        const HttpServer server(always(status, "busy"));
        const Failed failed = failure_of(http(server.url("/")));
        EXPECT_EQ(failed.options.code, "http_" + std::to_string(status));
        EXPECT_FALSE(failed.options.is_permanent) << status;
        EXPECT_FALSE(failed.options.retry_after.has_value());
    }
}

TEST(HttpHandler, retry_after_sets_the_delay) {
    const auto delay = [](int status, std::vector<std::string> headers) {
        const HttpServer server(always(status, "", std::move(headers)));
        return failure_of(http(server.url("/"))).options.retry_after;
    };
    EXPECT_EQ(delay(503, {"Retry-After: 120"}), Duration(120s));
    EXPECT_EQ(delay(429, {"retry-after:7 "}), Duration(7s));
    EXPECT_EQ(delay(429, {"Retry-After: 0"}), Duration(0s));
    EXPECT_EQ(
        delay(
            503,
            {"Date: Sun, 06 Nov 1994 08:49:00 GMT", "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT"}
        ),
        Duration(37s)
    );
    EXPECT_EQ(delay(503, {"Retry-After: Sun, 06 Nov 1994 08:49:37 GMT"}), Duration(0s));
    EXPECT_EQ(
        delay(503, {"Retry-After: Fri, 31 Dec 9999 23:59:59 GMT"}), HandlerLimits::kRetryAfterMax
    );
    EXPECT_EQ(delay(503, {"Retry-After: 99999999999999999999"}), HandlerLimits::kRetryAfterMax);
    EXPECT_EQ(delay(503, {"Retry-After: soon"}), std::nullopt);
    EXPECT_EQ(delay(503, {"Retry-After: -5"}), std::nullopt);
    EXPECT_EQ(delay(400, {"Retry-After: 5"}), std::nullopt);
}

TEST(HttpHandler, follows_redirects_within_the_server_that_keep_the_method) {
    const HttpServer server([](const HttpServer::Request& request) {
        if (request.target == "/new?x=1")
            return HttpServer::respond(200, "\"" + request.method + "\"");
        if (request.target == "/a/old")
            return HttpServer::respond(308, "", {"Location: ../new?x=1"});
        return HttpServer::respond(302, "", {"Location: /a/old"});
    });
    EXPECT_EQ(call(http(server.url("/a/old")), "[5]"), "\"POST\"");
    EXPECT_EQ(server.requests().back().body, "[5]");
    EXPECT_EQ(call(http(server.url("/first"), {{"method", "GET"}}), "{}"), "\"GET\"");
    const Failed failed = failure_of(http(server.url("/first")));
    EXPECT_EQ(failed.options.code, "http_302");
    EXPECT_TRUE(failed.options.is_permanent);
}

TEST(HttpHandler, never_follows_a_redirect_to_another_server) {
    const HttpServer other(always(200, "1"));
    for (const std::string& target :
         {other.url("/"),
          std::string("https://127.0.0.1/"),
          std::string("file:///etc/passwd"),
          std::string("//localhost/"),
          std::string("gopher://x/"),
          std::string("http://")}) {
        const HttpServer server(always(307, "", {"Location: " + target}));
        const Failed failed = failure_of(http(server.url("/")));
        EXPECT_EQ(failed.options.code, "http_307") << target;
        EXPECT_TRUE(failed.options.is_permanent);
    }
    const HttpServer nowhere(always(307, ""));
    EXPECT_EQ(failure_of(http(nowhere.url("/"))).options.code, "http_307");
    EXPECT_TRUE(other.requests().empty());
}

TEST(HttpHandler, follows_redirects_up_to_the_limit_and_not_one_more) {
    const HttpServer server([](const HttpServer::Request& request) {
        const int left = std::stoi(request.target.substr(1));
        if (left == 0) return HttpServer::respond(200, "1");
        return HttpServer::respond(307, "", {"Location: /" + std::to_string(left - 1)});
    });
    const int max = HandlerLimits::kRedirectsMax;
    EXPECT_EQ(call(http(server.url("/" + std::to_string(max))), "{}"), "1");
    const Failed failed = failure_of(http(server.url("/" + std::to_string(max + 1))));
    EXPECT_EQ(failed.options.code, "too_many_redirects");
    EXPECT_TRUE(failed.options.is_permanent);
}

TEST(HttpHandler, takes_a_response_of_max_response_and_not_one_byte_more) {
    const HttpServer server(always(200, '"' + std::string(998, 'x') + '"'));
    EXPECT_EQ(call(http(server.url("/"), {{"max_response", 1'000}}), "{}").size(), 1'000U);
    const Failed failed = failure_of(http(server.url("/"), {{"max_response", 999}}));
    EXPECT_EQ(failed.options.code, "response_too_large");
    EXPECT_TRUE(failed.options.is_permanent);
    EXPECT_THAT(failed.message, HasSubstr("999 bytes that max_response allows"));
}

TEST(HttpHandler, a_response_without_end_is_cut_off) {
    const HttpServer server([](const auto&) {
        return "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + std::string(4'000'000, 'x');
    });
    EXPECT_EQ(failure_of(http(server.url("/"))).options.code, "response_too_large");
}

TEST(HttpHandler, a_missing_server_is_worth_another_attempt) {
    std::string url;
    {
        const HttpServer server(always(200, "1"));
        url = server.url("/path?secret=1");
    }
    const Failed failed = failure_of(http(url));
    EXPECT_EQ(failed.options.code, "connection_failed");
    EXPECT_FALSE(failed.options.is_permanent);
    EXPECT_THAT(failed.message, HasSubstr("/path failed: Failed to connect"));
    EXPECT_THAT(failed.message, Not(HasSubstr("secret")));
}

TEST(HttpHandler, broken_responses_are_worth_another_try) {
    for (const std::string answer :
         {"",
          "garbage\r\n\r\n",
          "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\nshort",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\nxyz\r\n"}) {
        const HttpServer server([&](const auto&) { return answer; });
        const Failed failed = failure_of(http(server.url("/")));
        EXPECT_EQ(failed.options.code, "connection_failed") << answer;
        EXPECT_FALSE(failed.options.is_permanent) << answer;
    }
}

/// A server that answers only when the test ends.
class SlowServer {
 public:
    SlowServer()
        : server_([gate = gate_.get_future().share(), this](const auto&) {
              arrived_.set_value();
              gate.wait();
              return HttpServer::respond(200, "1");
          }) {}

    ~SlowServer() { gate_.set_value(); }

    std::string url() const { return server_.url("/slow"); }

    void wait_for_request() { arrived_.get_future().wait(); }

 private:
    std::promise<void> arrived_;
    std::promise<void> gate_;
    HttpServer server_;
};

TEST(HttpHandler, a_slow_server_runs_into_the_timeout) {
    const SlowServer server;
    const Failed failed = failure_of(http(server.url(), {{"timeout", "150ms"}}));
    EXPECT_EQ(failed.options.code, "timeout");
    EXPECT_FALSE(failed.options.is_permanent);
}

TEST(HttpHandler, the_timeout_is_one_for_all_redirects) {
    std::promise<void> gate;
    const auto never = gate.get_future().share();
    const HttpServer server([never](const HttpServer::Request& request) {
        // Each redirect takes most of the time that is left for all.
        never.wait_for(200ms);
        return HttpServer::respond(307, "", {"Location: " + request.target + "x"});
    });
    const Failed failed = failure_of(http(server.url("/"), {{"timeout", "300ms"}}));
    EXPECT_EQ(failed.options.code, "timeout");
    EXPECT_LE(server.requests().size(), 2U);
}

TEST(HttpHandler, the_stop_token_ends_the_call_at_once) {
    SlowServer server;
    std::stop_source source;
    StepContext context = a_context();
    context.stop = source.get_token();
    std::jthread stopper([&] {
        server.wait_for_request();
        source.request_stop();
    });
    EXPECT_EQ(
        failure_of(http(server.url(), {{"timeout", "10m"}}), "{}", context).options.code, "stopped"
    );
}

TEST(HttpHandler, a_stop_before_the_call_lets_nothing_be_sent) {
    const HttpServer server(always(200, "1"));
    std::stop_source source;
    source.request_stop();
    StepContext context = a_context();
    context.stop = source.get_token();
    EXPECT_EQ(failure_of(http(server.url("/")), "{}", context).options.code, "stopped");
    EXPECT_TRUE(server.requests().empty());
}

TEST(HttpHandler, data_cannot_add_headers) {
    const HttpServer server(always(200, "1"));
    const Json spec = http(server.url("/"), {{"headers", {{"X-Name", "${input}"}}}});
    for (const std::string value : {"a\r\nX-Evil: 1", "a\nX-Evil: 1", "a\r", "a\x01"}) {
        const Failed failed = failure_of(spec, Json(value).dump());
        EXPECT_EQ(failed.options.code, "invalid_header");
        EXPECT_TRUE(failed.options.is_permanent);
        EXPECT_THAT(failed.message, HasSubstr("header X-Name"));
    }
    EXPECT_TRUE(server.requests().empty());
    call(spec, Json("tab\tand ü are fine").dump());
    EXPECT_EQ(server.requests().at(0).headers.at("x-name"), "tab\tand ü are fine");
    call(spec, Json(std::string(HandlerLimits::kHeaderBytesMax, 'x')).dump());
    EXPECT_EQ(
        failure_of(spec, Json(std::string(HandlerLimits::kHeaderBytesMax + 1, 'x')).dump())
            .options.code,
        "invalid_header"
    );
}

TEST(HttpHandler, data_cannot_lead_the_path_elsewhere) {
    const HttpServer server(always(200, "1"));
    for (const std::string value : {"..", "."}) {
        EXPECT_EQ(
            failure_of(http(server.url("/a/${input}/b")), Json(value).dump()).options.code,
            "invalid_url"
        );
    }
    call(http(server.url("/a/${input}")), Json("\r\nX: 1").dump());
    EXPECT_EQ(server.requests().at(0).target, "/a/%0D%0AX%3A%201");
}

TEST(HttpHandler, a_url_may_have_the_longest_length_and_no_more) {
    const HttpServer server(always(200, "1"));
    const std::string base = server.url("/");
    const std::string longest(HandlerLimits::kUrlBytesMax - base.size(), 'x');
    EXPECT_EQ(call(http(base + "${input}"), Json(longest).dump()), "1");
    EXPECT_EQ(
        failure_of(http(base + "${input}"), Json(longest + "x").dump()).options.code, "invalid_url"
    );
}

TEST(HttpHandler, a_host_from_data_must_be_allowed) {
    const HttpServer server(always(200, "1"));
    const Json spec = http("${input.url}", {{"allow_hosts", {"127.0.0.1", "*.Example.com"}}});
    const auto code = [&](const std::string& url) {
        return failure_of(spec, Json{{"url", url}}.dump()).options.code;
    };
    EXPECT_EQ(call(spec, Json{{"url", server.url("/")}}.dump()), "1");
    EXPECT_EQ(code("http://localhost/"), "host_not_allowed");
    EXPECT_EQ(code("http://example.com/"), "host_not_allowed");
    EXPECT_EQ(code("http://evilexample.com/"), "host_not_allowed");
    EXPECT_EQ(code("http://127.0.0.1@evil.test/"), "host_not_allowed");
    EXPECT_EQ(code("http://127.0.0.1.evil.test/"), "host_not_allowed");
    EXPECT_EQ(code("file:///etc/passwd"), "invalid_url");
    EXPECT_EQ(code("gopher://127.0.0.1/"), "invalid_url");
    EXPECT_EQ(code("127.0.0.1"), "invalid_url");
    EXPECT_EQ(code("http://127.0.0.1/a b"), "invalid_url");
    EXPECT_EQ(code("http://127.0.0.1/a\r\nX: 1"), "invalid_url");
    EXPECT_EQ(code(""), "invalid_url");
}

TEST(HttpHandler, keeps_secrets_out_of_failures) {
    ASSERT_EQ(::setenv("TEST_TOKEN", "s3cret-t0ken", 1), 0);
    const HttpServer server(always(500, "you sent s3cret-t0ken"));
    std::string url = server.url("/bot/${env.TEST_TOKEN}/send?key=query-secret");
    url.insert(7, "user:pass-secret@");
    const Failed failed = failure_of(http(url, {{"pass_env", {"TEST_TOKEN"}}}));
    ::unsetenv("TEST_TOKEN");
    const std::string all = failed.message + failed.details.dump();
    EXPECT_THAT(all, Not(HasSubstr("secret")));
    EXPECT_THAT(all, Not(HasSubstr("s3cret")));
    EXPECT_EQ(failed.details["url"], server.url("/bot/[redacted]/send"));
    EXPECT_EQ(failed.details["body"], "you sent [redacted]");
    EXPECT_EQ(server.requests().at(0).target, "/bot/s3cret-t0ken/send?key=query-secret");
}

TEST(HttpHandler, hides_secrets_that_a_url_encodes_and_that_a_cut_would_split) {
    ASSERT_EQ(::setenv("TEST_TOKEN", "s3cret/t0ken+of=ours", 1), 0);
    std::string body(HandlerLimits::kErrorsBytesMax - 9, 'x');
    const HttpServer server(always(500, body + "s3cret/t0ken+of=ours"));
    const Failed failed =
        failure_of(http(server.url("/bot/${env.TEST_TOKEN}/send"), {{"pass_env", {"TEST_TOKEN"}}}));
    ::unsetenv("TEST_TOKEN");
    EXPECT_EQ(failed.details["url"], server.url("/bot/[redacted]/send"));
    EXPECT_THAT(failed.message + failed.details.dump(), Not(HasSubstr("s3cr")));
}

TEST(HttpHandler, an_unset_variable_is_a_clear_failure) {
    const Failed failed = failure_of(http(
        "http://127.0.0.1/",
        {{"headers", {{"X", "${env.TEST_NOT_SET}"}}}, {"pass_env", {"TEST_NOT_SET"}}}
    ));
    EXPECT_EQ(failed.options.code, "expression_failed");
    EXPECT_THAT(failed.message, HasSubstr("TEST_NOT_SET"));
}

TEST(HttpHandler, uses_no_proxy_of_the_environment) {
    ASSERT_EQ(::setenv("http_proxy", "http://127.0.0.1:1/", 1), 0);
    const HttpServer server(always(200, "1"));
    EXPECT_EQ(call(http(server.url("/")), "{}"), "1");
    ::unsetenv("http_proxy");
    const HttpServer proxy(always(200, "2"));
    EXPECT_EQ(call(http("http://somewhere.test/x", {{"proxy", proxy.url("")}}), "{}"), "2");
    EXPECT_EQ(proxy.requests().at(0).target, "http://somewhere.test/x");
}

TEST(HttpHandler, runs_many_calls_of_one_handler_at_once) {
    const HttpServer server([](const HttpServer::Request& request) {
        return HttpServer::respond(200, request.body);
    });
    const Handler handler = make_handler("h", http(server.url("/")).dump(), "/");
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
