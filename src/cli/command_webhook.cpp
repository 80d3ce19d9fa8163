// `ebb webhook`: the subscriptions that are notified of events.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <ebb/error.h>

#include "cli/client.h"
#include "cli/commands.h"
#include "cli/delivery_options.h"
#include "cli/payload_argument.h"
#include "cli/table.h"
#include "cli/text.h"

namespace ebb::cli {

namespace {

constexpr std::size_t kSecretFileBytesMax = 4'096;

std::string text_of(const Json& json, const char* name) {
    const auto found = json.find(name);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string joined(const Json& json, const char* name) {
    const auto texts = json.value(name, std::vector<std::string>{});
    return texts.empty() ? "all" : fmt::format("{}", fmt::join(texts, ", "));
}

std::string state_of(const Json& json) {
    if (!json.value("enabled", true)) return "disabled";
    if (!text_of(json, "suspended_at").empty()) return "suspended";
    const auto failures = json.value("failures", std::int64_t{0});
    return failures > 0 ? fmt::format("{} failed", failures) : "ok";
}

int print_all(Session& session, const std::vector<Json>& webhooks) {
    if (session.options().is_json) {
        session.print_json(nlohmann::ordered_json(Json(webhooks)));
        return kOk;
    }
    if (webhooks.empty()) {
        session.note("There are no webhooks.\n");
        return kOk;
    }
    const Style& style = session.out();
    Table table(
        {style.dim("NAME"),
         style.dim("STATE"),
         style.dim("FORMAT"),
         style.dim("EVENTS"),
         style.dim("WORKFLOWS"),
         style.dim("TO")}
    );
    for (const Json& each : webhooks) {
        table.add(
            {text_of(each, "name"),
             state_of(each),
             text_of(each, "format"),
             joined(each, "events"),
             joined(each, "workflows"),
             one_line(text_of(each, "url"))}
        );
    }
    session.print(table.text(session.columns(), style.glyphs().ellipsis));
    return kOk;
}

int print_one(Session& session, const Json& webhook) {
    if (session.options().is_json) {
        session.print_json(nlohmann::ordered_json(webhook));
        return kOk;
    }
    print_all(session, {webhook});
    const std::string secret = text_of(webhook, "secret");
    if (secret.empty()) return kOk;
    session.print(fmt::format("\nSecret: {}\n", secret));
    session.note("It is shown only now. The receiver checks the signatures with it.\n");
    return kOk;
}

Json settings_of(const WebhookOptions& options, const DeliveryOptions& more) {
    Json settings{
        {"format", options.format},
        {"enabled", !options.is_disabled},
        {"payload", more.has_payload},
    };
    if (!options.url.empty()) settings["url"] = options.url;
    if (!options.events.empty()) settings["events"] = options.events;
    if (!more.where.empty()) settings["where"] = more.where;
    if (!options.workflows.empty()) settings["workflows"] = options.workflows;
    if (!options.secret_file.empty()) {
        std::string secret = read_file(options.secret_file, kSecretFileBytesMax);
        while (!secret.empty() && (secret.back() == '\n' || secret.back() == '\r')) {
            secret.pop_back();
        }
        settings["secret"] = secret;
    }
    return settings;
}

int print_deliveries(Session& session, const std::vector<Json>& deliveries) {
    if (session.options().is_json) {
        session.print_json(nlohmann::ordered_json(Json(deliveries)));
        return kOk;
    }
    if (deliveries.empty()) {
        session.note("There are no deliveries.\n");
        return kOk;
    }
    const Style& style = session.out();
    Table table(
        {style.dim("DELIVERY"),
         style.dim("STATUS"),
         style.dim("ATTEMPTS"),
         style.dim("EVENT"),
         style.dim("INSTANCE"),
         style.dim("LAST ERROR")}
    );
    for (const Json& each : deliveries) {
        const Json error = each.value("error", Json());
        table.add(
            {text_of(each, "id"),
             text_of(each, "status"),
             std::to_string(each.value("attempts", 0)),
             text_of(each, "type"),
             text_of(each, "instance"),
             error.is_object() ? one_line(text_of(error, "message")) : std::string()}
        );
    }
    session.print(table.text(session.columns(), style.glyphs().ellipsis));
    return kOk;
}

int redeliver(
    Session& session, Client& client, const std::string& webhook, const std::string& delivery
) {
    const auto id = InstanceId::parse(delivery);
    if (!id) {
        throw Error(
            ErrorCode::InvalidArgument,
            "`ebb webhook redeliver` needs the id of a delivery, as `ebb webhook deliveries` "
            "prints it."
        );
    }
    client.redeliver(webhook, *id);
    session.note("A worker of `ebb serve` sends the event again within seconds.\n");
    return kOk;
}

}  // namespace

int manage_webhooks(
    Session& session, const WebhookOptions& options, const DeliveryOptions& deliveries
) {
    if (options.action != "list" && options.name.empty()) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format("`ebb webhook {}` needs the name of a webhook.", options.action)
        );
    }
    Client& client = session.connect("webhook");
    if (options.action == "list") return print_all(session, client.webhooks());
    if (options.action == "put") {
        return print_one(
            session, client.put_webhook(options.name, settings_of(options, deliveries))
        );
    }
    if (options.action == "rotate") {
        return print_one(session, client.rotate_webhook(options.name, options.keep_old));
    }
    if (options.action == "delete") {
        client.remove_webhook(options.name);
        return kOk;
    }
    if (options.action == "ping") {
        client.ping_webhook(options.name);
        session.note("A worker of `ebb serve` sends the event ping within seconds.\n");
        return kOk;
    }
    if (options.action == "deliveries") {
        return print_deliveries(
            session, client.deliveries(options.name, deliveries.status, deliveries.limit)
        );
    }
    if (options.action == "redeliver") {
        return redeliver(session, client, options.name, deliveries.delivery);
    }
    return print_one(session, client.webhook(options.name));
}

}  // namespace ebb::cli
