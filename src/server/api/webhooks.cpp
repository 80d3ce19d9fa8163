// Routes about webhooks: the subscriptions that are notified of events.

#include <string>

#include <nlohmann/json.hpp>

#include "engine/webhook.h"
#include "server/api/body.h"
#include "server/api/plain_route.h"
#include "server/api/service.h"
#include "server/remote/desk.h"
#include "support/clock.h"
#include "view/deliveries.h"

namespace ebb::server {

namespace {

using OrderedJson = nlohmann::ordered_json;

/// A page asks a few questions for each delivery.
constexpr int kDeliveriesMax = 200;

/// Throws Problem if there is none.
Subscription find(Service& service, const Call& call) {
    auto found = service.store.find_subscription(call.parameter("name"));
    if (!found) throw Problem("not_found", "There is no webhook of this name.");
    return *std::move(found);
}

/// Of what has just been made, the secret is shown this once.
http::Response secret_response(const Json& json) {
    http::Response response = json_response(200, OrderedJson(json));
    response.set("Cache-Control", "no-store");
    return response;
}

http::Response list_webhooks(Service& service, Call& call) {
    call.query.check_all_used();
    OrderedJson items = OrderedJson::array();
    for (const Subscription& each : service.store.subscriptions()) {
        items.push_back(OrderedJson(engine::webhook_json(each)));
    }
    return json_response(200, OrderedJson{{"items", std::move(items)}});
}

http::Response get_webhook(Service& service, Call& call) {
    call.query.check_all_used();
    return json_response(200, OrderedJson(engine::webhook_json(find(service, call))));
}

http::Response put_webhook(Service& service, Call& call) {
    call.query.check_all_used();
    // Refuses what is not one JSON object with unique members.
    const Body checked(call.request.body);
    const Json settings =
        call.request.body.empty() ? Json::object() : Json::parse(call.request.body);
    const Json webhook = engine::put_webhook(
        service.store, engine::read_webhook(call.parameter("name"), settings), service.box
    );
    service.desk.learn_subscriptions();
    return secret_response(webhook);
}

http::Response delete_webhook(Service& service, Call& call) {
    call.query.check_all_used();
    find(service, call);
    service.store.remove_subscription(call.parameter("name"));
    service.desk.learn_subscriptions();
    return {.status = 204};
}

http::Response rotate_webhook(Service& service, Call& call) {
    call.query.check_all_used();
    Body body(call.request.body);
    const auto text = body.text("keep_old", 32);
    body.check_all_used();
    const auto keep = text ? parse_duration(*text) : engine::Webhook::kRotation;
    if (!keep) {
        throw Problem("invalid_argument", "The member \"keep_old\" is not a duration such as 24h.");
    }
    find(service, call);
    return secret_response(
        engine::rotate_webhook(service.store, call.parameter("name"), *keep, service.box)
    );
}

http::Response ping_webhook(Service& service, Call& call) {
    call.query.check_all_used();
    find(service, call);
    engine::ping_webhook(service.store, call.parameter("name"));
    return {.status = 202};
}

http::Response list_deliveries(Service& service, Call& call) {
    const std::string name = find(service, call).name;
    view::DeliveryQuery query{.webhook = name};
    query.status = call.query.text("status").value_or("");
    query.limit =
        static_cast<int>(call.query.integer("limit", 1, kDeliveriesMax).value_or(query.limit));
    if (const auto cursor = call.query.text("cursor")) {
        query.before = InstanceId::parse(*cursor);
        if (!query.before) {
            throw Problem("invalid_argument", "The cursor is not one of this server.");
        }
    }
    call.query.check_all_used();
    view::DeliveryPage page = view::list_deliveries(service.reader, service.reads, query);
    OrderedJson items = OrderedJson::array();
    for (OrderedJson& delivery : page.deliveries) items.push_back(std::move(delivery));
    OrderedJson json{{"items", std::move(items)}};
    json["next_cursor"] = page.next ? OrderedJson(page.next->to_string()) : OrderedJson(nullptr);
    return json_response(200, json);
}

http::Response redeliver(Service& service, Call& call) {
    call.query.check_all_used();
    const std::string name = find(service, call).name;
    const auto id = InstanceId::parse(call.parameter("id"));
    if (!id) throw Problem("invalid_argument", "The id of the delivery is not an instance's id.");
    view::redeliver(service.engine, service.store, name, *id, call.principal.name);
    return {.status = 202};
}

}  // namespace

void add_webhook_routes(Routes& routes, Service& service) {
    const auto add = [&](std::string_view method,
                         std::string_view path,
                         std::string_view operation,
                         http::Response (*handle)(Service&, Call&)) {
        routes.push_back(plain_route(service, method, path, operation, "webhooks.write", handle));
    };
    add("GET", "/webhooks", "listWebhooks", list_webhooks);
    add("GET", "/webhooks/{name}", "getWebhook", get_webhook);
    add("PUT", "/webhooks/{name}", "putWebhook", put_webhook);
    add("DELETE", "/webhooks/{name}", "deleteWebhook", delete_webhook);
    add("POST", "/webhooks/{name}/rotate", "rotateWebhook", rotate_webhook);
    add("POST", "/webhooks/{name}/ping", "pingWebhook", ping_webhook);
    add("GET", "/webhooks/{name}/deliveries", "listDeliveries", list_deliveries);
    add("POST", "/webhooks/{name}/deliveries/{id}/redeliver", "redeliver", redeliver);
}

}  // namespace ebb::server
