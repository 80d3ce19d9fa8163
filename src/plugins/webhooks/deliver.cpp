#include "plugins/webhooks/deliver.h"

#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/system_workflows.h"
#include "engine/webhook.h"
#include "handlers/header.h"
#include "handlers/http_client.h"
#include "plugins/webhooks/message.h"
#include "support/json.h"

namespace ebb::webhooks {

namespace {

using engine::Webhook;

constexpr Duration kTimeout = std::chrono::seconds(15);
/// The body of an answer is not read; more than this is not an answer to a webhook.
constexpr std::size_t kAnswerBytesMax = std::size_t{1} << 20;
constexpr int kGone = 410;

Payload skipped(const char* why) {
    return Payload::text(to_text(Json{{"skipped", why}}));
}

bool is_success(int status) {
    return status >= 200 && status < 300;
}

class Deliverer {
 public:
    Deliverer(Store& store, const Clock& clock, DeliveryOptions options)
        : store_(store), clock_(clock), options_(std::move(options)) {}

    Payload deliver(const Payload& input, const StepContext& context) {
        const Event event = parse_event(input);
        const auto subscription = store_.find_subscription(event.subscription);
        // It was removed or switched off after the event.
        if (!subscription) return skipped("deleted");
        if (!subscription->is_enabled) return skipped("disabled");
        const Webhook webhook = engine::parse_webhook(*subscription);
        const HttpResponse response = send(webhook, event, context);
        if (!is_success(response.status)) refuse(webhook, response);
        if (subscription->failures > 0) note(webhook.name, true);
        return Payload::text(to_text(Json{{"status", response.status}}));
    }

 private:
    HttpResponse send(const Webhook& webhook, const Event& event, const StepContext& context) {
        Message message = make_message(webhook, event);
        HttpRequest request{
            .method = "POST",
            .url = webhook.url,
            .headers = std::move(message.headers),
            .body = std::move(message.body),
            .proxy = {},
            .ca_file = {},
            .client_cert = {},
            .client_key = {},
            .timeout = kTimeout,
            .response_bytes_max = kAnswerBytesMax,
            .stop = context.stop,
            .is_public_only = !options_.allows_private,
        };
        request.headers.emplace_back("User-Agent", options_.user_agent);
        for (auto& header : signed_headers(webhook, event.id, *request.body, clock_.now())) {
            request.headers.push_back(std::move(header));
        }
        try {
            return client_.perform(request);
        } catch (const HttpError& error) {
            if (error.kind() == HttpError::Kind::Stopped) throw;
            note(webhook.name, false);
            const bool is_refused = error.kind() == HttpError::Kind::AddressRefused;
            std::string why = error.what();
            if (is_refused) {
                why += "; `ebb serve --webhooks-allow-private` allows that";
            }
            throw HandlerFailure(
                fmt::format("The delivery to {} failed: {}.", public_url(webhook.url), why),
                {.code = is_refused ? "address_refused" : "connection_failed",
                 .is_permanent = is_refused,
                 .retry_after = {},
                 .details = {}}
            );
        }
    }

    [[noreturn]] void refuse(const Webhook& webhook, const HttpResponse& response) {
        HandlerFailure::Options options{.code = fmt::format("http_{}", response.status)};
        std::string message = fmt::format(
            "The endpoint {} answered with the status {}.", public_url(webhook.url), response.status
        );
        if (response.status == kGone) {
            disable(webhook);
            options.is_permanent = true;
            message += " The webhook was disabled.";
        } else {
            note(webhook.name, false);
            const auto wish = response.headers.find("retry-after");
            if (wish != response.headers.end()) {
                options.retry_after = parse_retry_after(wish->second, clock_.now());
            }
        }
        options.details = Payload::text(to_text(Json{{"status", response.status}}));
        throw HandlerFailure(message, std::move(options));
    }

    void disable(Webhook webhook) {
        webhook.is_enabled = false;
        store_.put_subscription(engine::subscription_of(webhook, store_.now()));
    }

    void note(const std::string& name, bool has_succeeded) {
        store_.note_delivery(
            {.subscription = name, .has_succeeded = has_succeeded, .now = store_.now()}
        );
    }

    Store& store_;
    const Clock& clock_;
    const DeliveryOptions options_;
    HttpClient client_;
};

}  // namespace

void add_deliver_handler(
    HandlerRegistry& registry, Store& store, const Clock& clock, const DeliveryOptions& options
) {
    const auto deliverer = std::make_shared<Deliverer>(store, clock, options);
    registry.add_raw(
        std::string(engine::kDeliverHandler),
        [deliverer](const Payload& input, const StepContext& context) {
            return deliverer->deliver(input, context);
        }
    );
}

}  // namespace ebb::webhooks
