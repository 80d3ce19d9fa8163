#include "plugins/webhooks/deliver.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/completion.h>

#include "core/filter/filter.h"
#include "engine/system_workflows.h"
#include "engine/webhook.h"
#include "handlers/header.h"
#include "handlers/http_transfers.h"
#include "plugins/webhooks/digest.h"
#include "plugins/webhooks/mail_text.h"
#include "plugins/webhooks/message.h"
#include "support/clock.h"
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

/// Whether the event says that a decision is awaited.
bool asks_for_decision(const Event& event) {
    return event.type == "decision.awaited" || event.type == "decision.overdue";
}

bool is_success(int status) {
    return status >= 200 && status < 300;
}

class Deliverer {
 public:
    Deliverer(Store& store, const Clock& clock, DeliveryOptions options)
        : store_(store),
          clock_(clock),
          options_(std::move(options)),
          own_admin_(make_memory_admin_store()),
          digests_(options_.admin != nullptr ? *options_.admin : *own_admin_) {}

    /// What it throws fails the delivery.
    void deliver(const Payload& input, const Completion<Payload>& delivery) {
        const Event event = visible(parse_event(input));
        const auto subscription = store_.find_subscription(event.subscription);
        // It was removed or switched off after the event.
        if (!subscription) return skip(delivery, "deleted");
        if (!subscription->is_enabled) return skip(delivery, "disabled");
        const Webhook webhook = engine::parse_webhook(*subscription);
        if (!wants(webhook, event)) return skip(delivery, "filtered");
        const bool has_failed = subscription->failures > 0;
        if (webhook.format == "email") {
            const Payload outcome = deliver_mail(webhook, event, delivery.context());
            if (has_failed) note(webhook.name, true);
            delivery.complete(outcome);
            return;
        }
        transfers_.begin(
            request_of(webhook, with_more(event, more_of(webhook, event)), delivery.context()),
            [this, webhook, has_failed, delivery](const auto& response, const auto& error) {
                end(webhook, has_failed, delivery, response, error);
            }
        );
    }

 private:
    static void skip(const Completion<Payload>& delivery, const char* why) {
        delivery.complete(skipped(why));
    }

    /// Of a request, with `error` unless there is a response.
    void end(
        const Webhook& webhook,
        bool has_failed,
        const Completion<Payload>& delivery,
        const HttpResponse& response,
        const std::exception_ptr& error
    ) noexcept {
        try {
            if (error) fail(webhook, error);
            if (!is_success(response.status)) refuse(webhook, response);
            if (has_failed) note(webhook.name, true);
            delivery.complete(Payload::text(to_text(Json{{"status", response.status}})));
        } catch (...) {
            delivery.fail(std::current_exception());
        }
    }

    /// The event without what may not be shown of its failure, whose text may have a part of a
    /// payload.
    Event visible(Event event) const {
        if (!options_.shown) return event;
        auto data = nlohmann::ordered_json::parse(event.data);
        const auto error = data.find("error");
        if (error == data.end()) return event;
        const Payload failure = Payload::text(error->dump());
        const Payload shown = options_.shown(
            failure, data.value("workflow", std::string()), data.value("version", 0)
        );
        if (shown == failure) return event;
        if (shown.empty()) {
            error->erase("message");
        } else {
            *error = nlohmann::ordered_json::parse(shown);
        }
        event.data = data.dump();
        return event;
    }

    /// Whether the filter of the webhook holds for the instance. What is about none, a ping, is
    /// wanted.
    bool wants(const Webhook& webhook, const Event& event) const {
        if (webhook.where.empty()) return true;
        const Json data = Json::parse(event.data);
        const auto id = InstanceId::parse(data.value("instance", std::string()));
        if (!id) return true;
        InstanceSearch search{
            .has_system = true,
            .where = filter::compile(webhook.where, store_.now()),
            .from = id,
            .limit = 1,
            .scan_max = 1,
        };
        // The next id: only this one is read.
        InstanceId next = *id;
        for (auto byte = next.bytes.rbegin(); byte != next.bytes.rend() && ++*byte == 0; ++byte) {
        }
        search.before = next;
        return !store_.search(search).rows.empty();
    }

    Payload deliver_mail(const Webhook& webhook, const Event& event, const StepContext& context) {
        if (!options_.mail) {
            throw HandlerFailure(
                "This server has no mail server; `ebb serve --smtp-url` names one.",
                {.code = "mail_not_configured"}
            );
        }
        const Json data = Json::parse(event.data);
        std::string group;
        if (event.type == "instance.dead_lettered") {
            group = data.value("failure_group", std::string());
        }
        if (group.empty()) {
            send_mails(webhook, event, context);
            return Payload::text(to_text(Json{{"mailed", true}}));
        }
        const std::string place = webhook.name + "/" + group;
        const TimePoint now = store_.now();
        const TimePoint at = parse_time(event.timestamp).value_or(now);
        const Digests::Turn turn = digests_.take(place, event.id, at, now);
        if (turn.kind == Digests::Turn::Kind::Covered) return skipped("in_digest");
        if (turn.kind == Digests::Turn::Kind::Wait) {
            throw HandlerFailure(
                "A mail about this cause has just been sent; the next one will report the event.",
                {.code = "digest", .retry_after = turn.wait}
            );
        }
        const Digest digest = digest_of(group);
        try {
            send_mail(
                webhook,
                {event, digest, {.site = options_.site}},
                engine::mail_recipients(webhook.url),
                context
            );
        } catch (...) {
            digests_.failed(place, event.id);
            throw;
        }
        digests_.sent(place, event.id);
        return Payload::text(to_text(Json{{"mailed", true}, {"reported", digest.count}}));
    }

    Digest digest_of(const std::string& group) {
        Digest digest;
        digest.shown = store_.list_failures(
            {.group = group,
             .statuses = {InstanceStatus::DeadLetter},
             .limit = FailureQuery::kLimitMax}
        );
        digest.count = digest.shown.size();
        digest.has_more = std::ssize(digest.shown) == FailureQuery::kLimitMax;
        digest.shown.resize(std::min(digest.shown.size(), Digest::kShownMax));
        return digest;
    }

    /// Empty if the event asks for no decision, or if it is not awaited any more.
    std::string decision_link(const Event& event, const std::string& by) const {
        if (!options_.decision_link || options_.site.empty() || !asks_for_decision(event))
            return {};
        const Json data = Json::parse(event.data);
        const auto id = InstanceId::parse(data.value("instance", std::string()));
        if (!id) return {};
        const TimePoint at = parse_time(event.timestamp).value_or(store_.now());
        return options_.decision_link(*id, data.value("step", std::string()), by, at);
    }

    /// One mail to all, or one to each with a link of its own.
    void send_mails(const Webhook& webhook, const Event& event, const StepContext& context) {
        const std::vector<std::string> recipients = engine::mail_recipients(webhook.url);
        std::exception_ptr failed;
        for (const std::string& recipient : recipients) {
            const std::string link = decision_link(event, "mail:" + recipient);
            if (link.empty()) {
                return send_mail(
                    webhook, {event, {}, {.site = options_.site}}, recipients, context
                );
            }
            try {
                send_mail(
                    webhook,
                    {event, {}, {.site = options_.site, .decision = link}},
                    {recipient},
                    context
                );
            } catch (const HandlerFailure&) {
                // The others get theirs.
                if (!failed) failed = std::current_exception();
            }
        }
        if (failed) std::rethrow_exception(failed);
    }

    struct Mail {
        const Event& event;
        Digest digest;
        MailLinks links;
    };

    void send_mail(
        const Webhook& webhook,
        const Mail& mail,
        const std::vector<std::string>& recipients,
        const StepContext& context
    ) {
        const MailAddresses addresses{.from = options_.mail_from, .to = recipients};
        const std::string text =
            make_mail(addresses, mail.event, mail.digest, mail.links, store_.now());
        try {
            ebb::send_mail(
                *options_.mail,
                {.from = addresses.from, .to = addresses.to, .text = text},
                context.stop
            );
        } catch (const MailError& error) {
            if (error.kind() == MailError::Kind::Stopped) throw;
            note(webhook.name, false);
            const bool is_refused = error.kind() == MailError::Kind::Refused;
            throw HandlerFailure(
                fmt::format("The mail was not accepted: {}.", error.what()),
                {.code = is_refused ? "mail_refused" : "mail_failed", .is_permanent = is_refused}
            );
        }
    }

    More more_of(const Webhook& webhook, const Event& event) {
        More more{.site = options_.site, .payload = payload_of(webhook, event)};
        // Of a channel of people. Programs have a token.
        if (webhook.format == "slack" || webhook.format == "teams") {
            more.decision_link = decision_link(event, "webhook:" + webhook.name);
        }
        const Json data = Json::parse(event.data);
        const auto id = InstanceId::parse(data.value("instance", std::string()));
        if (id && options_.labels) more.labels = options_.labels(*id);
        return more;
    }

    /// Of what the event reports. The history does not change, so each attempt sends the same.
    Payload payload_of(const Webhook& webhook, const Event& event) {
        const Json data = Json::parse(event.data);
        const std::size_t last = event.id.rfind('_');
        const auto id = InstanceId::parse(data.value("instance", std::string()));
        if (!webhook.has_payload || !options_.shown || !id || last == std::string::npos) return {};
        Seq seq = std::strtoll(event.id.c_str() + last + 1, nullptr, 10);
        // What has ended refers to its output.
        for (int step = 0; step < 2 && seq > 0; ++step) {
            const auto events =
                store_.history({.instance = *id, .after = seq - 1, .before = seq + 1, .limit = 1});
            if (events.empty()) return {};
            if (!events.front().payload.empty()) {
                return options_.shown(
                    events.front().payload,
                    data.value("workflow", std::string()),
                    data.value("version", 0)
                );
            }
            seq = events.front().ref;
        }
        return {};
    }

    HttpRequest request_of(const Webhook& webhook, const Event& event, const StepContext& context)
        const {
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
            .may_reach = options_.may_reach,
        };
        request.headers.emplace_back("User-Agent", options_.user_agent);
        const Webhook open = engine::with_open_secrets(webhook, options_.box);
        for (auto& header : signed_headers(open, event.id, *request.body, clock_.now())) {
            request.headers.push_back(std::move(header));
        }
        return request;
    }

    [[noreturn]] void fail(const Webhook& webhook, const std::exception_ptr& why_not) {
        try {
            std::rethrow_exception(why_not);
        } catch (const HttpError& error) {
            if (error.kind() == HttpError::Kind::Stopped) throw;
            note(webhook.name, false);
            const bool is_refused = error.kind() == HttpError::Kind::AddressRefused;
            std::string why = error.what();
            if (is_refused) {
                why += "; webhooks_allow_private of `ebb serve` can allow its network";
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
    const std::unique_ptr<AdminStore> own_admin_;
    Digests digests_;
    HttpTransfers transfers_;  // last: what it ends uses all of the above
};

}  // namespace

void add_deliver_handler(
    HandlerRegistry& registry, Store& store, const Clock& clock, const DeliveryOptions& options
) {
    const auto deliverer = std::make_shared<Deliverer>(store, clock, options);
    registry.add_async_raw(
        std::string(engine::kDeliverHandler),
        [deliverer](const Payload& input, const detail::CompletionPtr& completion) {
            deliverer->deliver(input, Completion<Payload>(completion));
        }
    );
}

}  // namespace ebb::webhooks
