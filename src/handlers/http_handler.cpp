#include "handlers/http_handler.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "handlers/call_variables.h"
#include "handlers/header.h"
#include "handlers/http_client.h"
#include "handlers/output.h"
#include "support/clock.h"
#include "support/json.h"

namespace ebb {

namespace {

[[noreturn]] void fail_for_good(const std::string& message, std::string code) {
    throw HandlerFailure(message, {.code = std::move(code), .is_permanent = true});
}

bool is_success(int status) {
    return status >= 200 && status < 300;
}

bool is_redirect(int status) {
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/// Worth another try: the server is overloaded, broken or has lost patience, and may act
/// differently later.
bool is_transient(int status) {
    return status >= 500 || status == 408 || status == 425 || status == 429;
}

bool has_dot_segment(std::string_view path) {
    while (!path.empty()) {
        path.remove_prefix(1);
        const std::string_view segment = path.substr(0, path.find('/'));
        if (segment == "." || segment == "..") return true;
        path.remove_prefix(segment.size());
    }
    return false;
}

bool is_allowed(const std::string& host, const std::vector<std::string>& patterns) {
    return std::any_of(patterns.begin(), patterns.end(), [&](const std::string& pattern) {
        if (!pattern.starts_with("*.")) return host == pattern;
        return host.size() > pattern.size() - 1 &&
               host.ends_with(std::string_view(pattern).substr(1));
    });
}

/// What all calls of one handler share.
struct Endpoint {
    std::string name;
    HttpSpec spec;
    HttpClient client;
};

/// One call: the request, its redirects, and the outcome of the response.
class Call {
 public:
    Call(Endpoint& endpoint, const Payload& input, const StepContext& context)
        : endpoint_(endpoint),
          spec_(endpoint.spec),
          input_(input),
          context_(context),
          passed_(read_environment(spec_.pass_environment)),
          redactor_(redactor_of(passed_)),
          variables_(input, context, passed_) {}

    Payload run() {
        try {
            return call();
        } catch (const HandlerFailure& failure) {
            throw redacted(failure, redactor_);
        }
    }

 private:
    Payload call() {
        request_.method = spec_.method;
        request_.proxy = spec_.proxy;
        request_.ca_file = spec_.ca_file;
        request_.client_cert = spec_.client_cert;
        request_.client_key = spec_.client_key;
        request_.timeout = spec_.timeout;
        request_.response_bytes_max = spec_.response_bytes_max;
        request_.stop = context_.stop;
        request_.url = make_url();
        add_headers();
        add_body();
        return answer(follow());
    }

    std::string label() const { return fmt::format("The handler \"{}\"", endpoint_.name); }

    std::string make_url() const {
        std::string url = spec_.url.render(variables_);
        const auto is_blank = [](char c) {
            return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f;
        };
        if (url.size() > HandlerLimits::kUrlBytesMax) {
            fail_for_good(
                fmt::format(
                    "{}: its URL has {} bytes; {} are allowed.",
                    label(),
                    url.size(),
                    HandlerLimits::kUrlBytesMax
                ),
                "invalid_url"
            );
        }
        const auto parts = parse_url(url);
        const bool is_http = parts && (parts->scheme == "https" || parts->scheme == "http");
        if (!is_http || parts->host.empty() || std::any_of(url.begin(), url.end(), is_blank)) {
            fail_for_good(
                fmt::format("{}: its URL is not one of http or https.", label()), "invalid_url"
            );
        }
        if (!spec_.url.is_constant() && has_dot_segment(parts->path)) {
            fail_for_good(
                fmt::format(
                    "{}: its URL has a path with . or .. in it, which would lead elsewhere.",
                    label()
                ),
                "invalid_url"
            );
        }
        if (!spec_.allow_hosts.empty() && !is_allowed(parts->host, spec_.allow_hosts)) {
            fail_for_good(
                fmt::format(
                    "{}: its URL leads to the host \"{}\", which is not in allow_hosts.",
                    label(),
                    redactor_.excerpt(parts->host, 255)
                ),
                "host_not_allowed"
            );
        }
        return url;
    }

    void add_header(const std::string& name, std::string value) {
        if (!is_header_value(value) || value.size() > HandlerLimits::kHeaderBytesMax) {
            fail_for_good(
                fmt::format(
                    "{}: the value of its header {} contains a line break or another control "
                    "character, or has more "
                    "than {} bytes.",
                    label(),
                    name,
                    HandlerLimits::kHeaderBytesMax
                ),
                "invalid_header"
            );
        }
        request_.headers.emplace_back(name, std::move(value));
    }

    bool has_header(std::string_view name) const {
        return std::any_of(spec_.headers.begin(), spec_.headers.end(), [&](const auto& header) {
            return to_lower(header.first) == name;
        });
    }

    void add_headers() {
        for (const auto& [name, value] : spec_.headers) {
            const std::string what =
                fmt::format("The header {} of the handler \"{}\"", name, endpoint_.name);
            add_header(name, render_text(value, variables_, what));
        }
        if (!has_header("accept")) add_header("Accept", "application/json");
        add_header("Idempotency-Key", context_.idempotency_key);
        add_header("Ebb-Instance-Id", context_.instance.to_string());
        add_header("Ebb-Workflow", context_.workflow);
        add_header("Ebb-Step", context_.step);
        add_header("Ebb-Attempt", std::to_string(context_.attempt));
        if (!has_header("traceparent")) {
            if (std::string trace = context_.traceparent(); !trace.empty()) {
                add_header("traceparent", std::move(trace));
            }
        }
        if (!context_.compensates) return;
        add_header("Ebb-Compensation", "1");
        add_header("Ebb-Forward-Idempotency-Key", context_.compensates->idempotency_key);
    }

    void add_body() {
        const std::string& method = spec_.method;
        bool is_json = true;
        if (spec_.body) {
            request_.body = render_body(is_json);
        } else if (method == "POST" || method == "PUT" || method == "PATCH") {
            request_.body = input_;
        }
        if (request_.body && !has_header("content-type")) {
            add_header("Content-Type", is_json ? "application/json" : "text/plain; charset=utf-8");
        }
    }

    std::string render_body(bool& is_json) const {
        try {
            const Json body = spec_.body->render(variables_);
            is_json = !body.is_string();
            return is_json ? to_text(body) : body.get<std::string>();
        } catch (const ExpressionError& error) {
            throw_expression_failed(
                fmt::format("The body of the handler \"{}\"", endpoint_.name), error
            );
        }
    }

    HttpResponse follow() {
        for (int redirects = 0;; ++redirects) {
            HttpResponse response = perform();
            if (!is_redirect(response.status)) return response;
            const std::string target = redirect_target(response);
            if (redirects == HandlerLimits::kRedirectsMax) {
                fail_for_good(
                    fmt::format(
                        "{}: {} redirects more than {} times.",
                        label(),
                        public_url(request_.url),
                        HandlerLimits::kRedirectsMax
                    ),
                    "too_many_redirects"
                );
            }
            request_.url = target;
            // The timeout is one for all; libcurl takes 0 for no timeout.
            request_.timeout = std::max(request_.timeout - response.elapsed, Duration(1'000));
        }
    }

    /// Only the same server may redirect, and only without changing the request.
    std::string redirect_target(const HttpResponse& response) const {
        const bool keeps_method =
            response.status >= 307 || request_.method == "GET" || request_.method == "HEAD";
        const auto location = response.headers.find("location");
        const auto target = location == response.headers.end()
                                ? std::nullopt
                                : resolve_url(request_.url, location->second);
        const auto from = parse_url(request_.url);
        const auto to = target ? parse_url(*target) : std::nullopt;
        const bool is_same_server = from && to && from->scheme == to->scheme &&
                                    from->host == to->host && from->port == to->port;
        if (keeps_method && is_same_server) return *target;
        fail_for_good(
            fmt::format(
                "{}: {} {} answered {} with a redirect to {}; only redirects to the same server "
                "that keep the method "
                "are followed.",
                label(),
                request_.method,
                public_url(request_.url),
                response.status,
                target ? public_url(*target) : "nowhere"
            ),
            fmt::format("http_{}", response.status)
        );
    }

    HttpResponse perform() {
        try {
            return endpoint_.client.perform(request_);
        } catch (const HttpError& error) {
            throw_failure(error);
        }
    }

    [[noreturn]] void throw_failure(const HttpError& error) const {
        HandlerFailure::Options options;
        switch (error.kind()) {
            case HttpError::Kind::InvalidUrl:
                options = {.code = "invalid_url", .is_permanent = true};
                break;
            case HttpError::Kind::ConnectionFailed:
                options.code = "connection_failed";
                break;
            case HttpError::Kind::TlsFailed:
                options.code = "tls_failed";
                break;
            case HttpError::Kind::InvalidFile:
                options.code = "invalid_certificate_file";
                break;
            case HttpError::Kind::TimedOut:
                options.code = "timeout";
                break;
            case HttpError::Kind::Stopped:
                options.code = "stopped";
                break;
            case HttpError::Kind::ResponseTooLarge:
                options = {.code = "response_too_large", .is_permanent = true};
                break;
            case HttpError::Kind::InvalidResponse:
                options = {.code = "invalid_response", .is_permanent = true};
                break;
            case HttpError::Kind::AddressRefused:
                options = {.code = "address_refused", .is_permanent = true};
                break;
            case HttpError::Kind::Unsupported:
                options = {.code = "unsupported_request", .is_permanent = true};
                break;
        }
        const std::string url = public_url(request_.url);
        options.details = to_text(Json{{"method", request_.method}, {"url", url}});
        throw HandlerFailure(
            fmt::format(
                "{}: {} {} failed: {}.",
                label(),
                request_.method,
                url,
                redactor_.excerpt(error.what(), HandlerLimits::kErrorsBytesMax)
            ),
            std::move(options)
        );
    }

    Payload answer(const HttpResponse& response) const {
        if (!is_success(response.status)) throw_status(response);
        const std::string what = fmt::format("{}: {}", label(), public_url(request_.url));
        return make_output(
            spec_.output,
            {.what = what,
             .text = response.body,
             .bytes_max = spec_.response_bytes_max,
             .redactor = redactor_},
            input_
        );
    }

    [[noreturn]] void throw_status(const HttpResponse& response) const {
        HandlerFailure::Options options{.code = fmt::format("http_{}", response.status)};
        options.is_permanent = !is_transient(response.status);
        if (!options.is_permanent) options.retry_after = wished_delay(response);
        const std::string url = public_url(request_.url);
        const std::string body = redactor_.excerpt(response.body, HandlerLimits::kErrorsBytesMax);
        options.details = to_text(Json{
            {"method", request_.method}, {"url", url}, {"status", response.status}, {"body", body}
        });
        throw HandlerFailure(
            fmt::format("{}: {} {} answered {}.", label(), request_.method, url, response.status),
            std::move(options)
        );
    }

    static std::optional<Duration> wished_delay(const HttpResponse& response) {
        const auto wish = response.headers.find("retry-after");
        if (wish == response.headers.end()) return std::nullopt;
        // A date is meant on the server's clock, which may not be ours.
        std::optional<TimePoint> now;
        if (const auto date = response.headers.find("date"); date != response.headers.end()) {
            now = parse_http_date(date->second);
        }
        return parse_retry_after(wish->second, now ? *now : SystemClock().now());
    }

    Endpoint& endpoint_;
    const HttpSpec& spec_;
    const Payload& input_;
    const StepContext& context_;
    const CallVariables::Environment passed_;
    const Redactor redactor_;
    const CallVariables variables_;
    HttpRequest request_;
};

}  // namespace

Handler make_http_handler(const std::string& name, HttpSpec spec) {
    const auto endpoint = std::make_shared<Endpoint>();
    endpoint->name = name;
    endpoint->spec = std::move(spec);
    return [endpoint](const Payload& input, const StepContext& context) {
        return Call(*endpoint, input, context).run();
    };
}

}  // namespace ebb
