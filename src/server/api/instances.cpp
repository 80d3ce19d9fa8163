// Routes that show instances.

#include <algorithm>
#include <chrono>
#include <map>

#include <fmt/format.h>

#include "call/event_view.h"
#include "core/filter/status_words.h"
#include "engine/core.h"
#include "engine/view.h"
#include "server/api/listing.h"
#include "server/api/payloads.h"
#include "server/api/router.h"
#include "server/api/service.h"
#include "server/api/unblock.h"
#include "server/api/where.h"
#include "store/names.h"
#include "support/sha256.h"
#include "support/uuid.h"
#include "view/instance_json.h"
#include "view/outline.h"

namespace ebb::server {

namespace {

using view::Json;

constexpr int kScanPage = 500;
/// So many are read by one search with a filter, between two looks at the clock.
constexpr int kFilteredPage = 2'000;

InstanceStatus to_status(const std::string& text) {
    const auto status = parse_status(text);
    if (status) return *status;
    throw Problem("invalid_argument", "The parameter \"status\": " + filter::unknown_status(text));
}

/// A page of instances: what to look for, and where the next page begins.
class Listing {
 public:
    Listing(Query& query, TimePoint now)
        : where_(read_where(query, now)),
          key_prefix_(query.text("key_prefix").value_or("")),
          limit_(static_cast<int>(query.integer("limit", 1, kPageMax).value_or(50))) {
        for (const std::string& status : query.list("status")) {
            query_.statuses.push_back(to_status(status));
        }
        query_.workflow = query.text("workflow").value_or("");
        if (const auto version = query.integer("version", 1, 2'147'483'647)) {
            query_.version = static_cast<int>(*version);
        }
        query_.key = query.text("key").value_or("");
        query_.has_system = query.flag("system");
        if (query.choice("sort", {"-created", "created"}) == "created") {
            query_.order = InstanceOrder::OldestFirst;
        }
        read_range(query);
        filters_ = fmt::format(
            "{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}",
            fmt::join(query.list("status"), ","),
            query_.workflow,
            query_.version.value_or(0),
            query_.key,
            query_.has_system,
            key_prefix_,
            query.text("created_after").value_or(""),
            query.text("created_before").value_or(""),
            query.text("before").value_or(""),
            query.text("after").value_or(""),
            static_cast<int>(query_.order),
            query.text("where").value_or(""),
            fmt::join(query.all("label"), "|")
        );
        has_outlines_ = query.flag("outline");
        wants_total_ = query.choice("count", {"none", "exact"}) == "exact";
        if (wants_total_ &&
            (query_.version || query_.has_system || !query_.key.empty() || !key_prefix_.empty() ||
             query.text("created_after") || query.text("created_before") || where_)) {
            throw Problem(
                "invalid_argument", "count=exact may only be combined with status and workflow."
            );
        }
        if (const auto cursor = query.text("cursor")) read_cursor(*cursor);
    }

    /// It lists only what the principal may see.
    void limit_to(Service& service, const Principal& principal) {
        const auto visible = visible_instances(service, principal, query_.workflow);
        sees_nothing_ = !visible;
        if (!visible) return;
        query_.workflow = visible->workflows;
        if (!visible->own) return;
        if (wants_total_) {
            throw Problem("invalid_argument", "count=exact needs the right to see all instances.");
        }
        if (!where_) {
            where_ = visible->own;
            return;
        }
        using filter::Condition;
        where_ = Condition{.kind = Condition::Kind::And, .parts = {*visible->own, *where_}};
    }

    void read(Store& store) {
        if (sees_nothing_) return;
        using Steady = std::chrono::steady_clock;
        if (where_ || !has_index()) return read_filtered(store);
        const auto end = Steady::now() + kScanTimeMax;
        const bool filters_here = !key_prefix_.empty();
        int scanned = 0;
        while (true) {
            const int wanted = limit_ - static_cast<int>(rows_.size());
            // One more than the page has tells whether there is another page.
            query_.limit = filters_here ? kScanPage : wanted + 1;
            const auto page = store.list(query_);
            for (const InstanceRow& row : page) {
                if (static_cast<int>(rows_.size()) >= limit_) return stop(true);
                last_ = row.id;
                scanned_to_ = row.created_at;
                if (row.key.starts_with(key_prefix_)) rows_.push_back(row);
            }
            scanned += static_cast<int>(page.size());
            if (static_cast<int>(page.size()) < query_.limit) return finish();
            go_on_after(query_, last_);
            if (scanned >= kScanRowsMax || Steady::now() >= end) return stop(false);
        }
    }

    Json items() const {
        Json items = Json::array();
        for (const InstanceRow& row : rows_) {
            items.push_back(view::summary_json(engine::to_summary(row)));
        }
        return items;
    }

    std::string text(Service& service, const Principal& principal) const {
        PayloadDocument document({.mode = "short"});
        Json json = {
            {"items", has_outlines_ ? outlines(service, principal, document) : items()},
            {"next_cursor", has_more_ ? Json(cursor()) : Json(nullptr)},
            {"scanned_to", view::time_json(scanned_to_)},
            {"complete", is_complete_},
            {"next_before", next(InstanceOrder::NewestFirst)},
            {"next_after", next(InstanceOrder::OldestFirst)},
        };
        if (wants_total_) json["total"] = total(service.reads);
        return document.text(json);
    }

    std::string cursor() const { return fmt::format("1.{}.{}", last_.to_string(), hash()); }

    bool has_more() const { return has_more_; }

 private:
    void read_range(Query& query) {
        if (const auto time = query.time("created_before")) query_.before = lowest_id_of(*time);
        if (const auto time = query.time("created_after")) query_.from = lowest_id_of(*time);
        if (const auto id = query.id("before")) {
            query_.before = std::min(*id, query_.before.value_or(*id));
        }
        if (const auto id = query.id("after")) {
            query_.from = std::max(next_id(*id), query_.from.value_or(InstanceId{}));
        }
    }

    /// The id with which the next page of a list in this order begins.
    Json next(InstanceOrder order) const {
        return has_more_ && query_.order == order ? Json(last_.to_string()) : Json(nullptr);
    }

    /// Whether the store finds what is asked for, without reading much else. There is no index of
    /// workflows and versions, and nearly everything has completed.
    bool has_index() const {
        if (!query_.key.empty() || !key_prefix_.empty()) return true;
        const auto& statuses = query_.statuses;
        const bool is_narrow =
            !statuses.empty() &&
            std::find(statuses.begin(), statuses.end(), InstanceStatus::Completed) ==
                statuses.end();
        return is_narrow || (query_.workflow.empty() && !query_.version);
    }

    /// The store judges the filter.
    void read_filtered(Store& store) {
        using Steady = std::chrono::steady_clock;
        const auto end = Steady::now() + kScanTimeMax;
        InstanceSearch search{
            .statuses = query_.statuses,
            .workflow = query_.workflow,
            .has_system = query_.has_system,
            .version = query_.version,
            .key = query_.key,
            .where = where_.value_or(filter::Condition{}),
            .before = query_.before,
            .from = query_.from,
            .scan_max = kFilteredPage,
            .order = query_.order,
        };
        if (!key_prefix_.empty()) search.where = with_prefix(search.where);
        for (int scanned = 0; scanned < kScanRowsMax; scanned += kFilteredPage) {
            // One more than the page has tells whether there is another page.
            search.limit = limit_ + 1 - static_cast<int>(rows_.size());
            InstanceHits hits = store.search(search);
            std::move(hits.rows.begin(), hits.rows.end(), std::back_inserter(rows_));
            if (static_cast<int>(rows_.size()) > limit_) {
                rows_.pop_back();
                last_ = rows_.back().id;
                scanned_to_ = rows_.back().created_at;
                return stop(true);
            }
            if (!rows_.empty()) scanned_to_ = rows_.back().created_at;
            if (!hits.next) return finish();
            last_ = *hits.next;
            go_on_after(search, last_);
            if (Steady::now() >= end) break;
        }
        if (const auto last = store.load(last_)) scanned_to_ = last->created_at;
        stop(false);
    }

    filter::Condition with_prefix(const filter::Condition& where) const {
        using filter::Condition;
        Condition prefix{
            .kind = Condition::Kind::Compare,
            .field = {.kind = filter::Field::Kind::Key},
            .op = filter::Operator::StartsWith,
        };
        prefix.operand = key_prefix_;
        return {.kind = Condition::Kind::And, .parts = {where, std::move(prefix)}};
    }

    /// The items with what each waits for, why it failed, and the handlers at which it stands.
    Json outlines(Service& service, const Principal& principal, PayloadDocument& document) const {
        view::Outliner outliner(
            service.reads, service.clock.now(), shown_payloads(service, principal)
        );
        Json items = Json::array();
        for (const InstanceRow& row : rows_) {
            const view::Outline outline = outliner.read(row);
            Json item = view::summary_json(outline.summary);
            document.go_on(payload_view(
                service, principal, {row.workflow, row.version}, is_own(principal, row)
            ));
            item["error"] = document.value(outline.error);
            item["waiting_for"] = Json::array();
            for (const WaitingFor& wait : outline.waiting_for) {
                item["waiting_for"].push_back(view::waiting_json(wait));
            }
            item["handlers"] = outline.handlers;
            items.push_back(std::move(item));
        }
        return items;
    }

    void finish() { has_more_ = false; }

    void stop(bool is_full) {
        has_more_ = true;
        is_complete_ = is_full;
    }

    std::string hash() const { return sha256_hex(filters_).substr(0, 16); }

    void read_cursor(const std::string& cursor) {
        const std::size_t last = cursor.rfind('.');
        const bool has_parts = cursor.starts_with("1.") && last > 2 && last != std::string::npos;
        const auto id = has_parts ? InstanceId::parse(cursor.substr(2, last - 2)) : std::nullopt;
        if (!id) throw Problem("invalid_argument", "The cursor is not one of this server.");
        if (cursor.substr(last + 1) != hash()) {
            throw Problem("cursor_mismatch", "The cursor belongs to other filters.");
        }
        go_on_after(query_, *id);
    }

    std::int64_t total(Store& store) const {
        std::int64_t total = 0;
        if (sees_nothing_) return total;
        for (const VersionCount& count : store.count_versions()) {
            const auto& wanted = query_.statuses;
            const bool fits_status =
                wanted.empty() ||
                std::find(wanted.begin(), wanted.end(), count.status) != wanted.end();
            if (!fits_status) continue;
            if (passes_names(query_.workflow, count.workflow)) total += count.count;
        }
        return total;
    }

    InstanceQuery query_;
    std::optional<filter::Condition> where_;
    std::string key_prefix_;
    int limit_;
    bool wants_total_ = false;
    bool has_outlines_ = false;
    bool sees_nothing_ = false;
    std::string filters_;
    std::vector<InstanceRow> rows_;
    InstanceId last_;  ///< that was looked at
    bool has_more_ = false;
    bool is_complete_ = true;
    TimePoint scanned_to_{};
};

http::Response list_instances(Service& service, Call& call) {
    Listing listing(call.query, service.clock.now());
    call.query.check_all_used();
    listing.limit_to(service, call.principal);
    listing.read(service.reads);
    auto response = json_response(200, listing.text(service, call.principal));
    if (listing.has_more()) {
        std::string query;
        for (std::string_view rest = call.request.query; !rest.empty();) {
            const std::size_t end = std::min(rest.find('&'), rest.size());
            if (!rest.starts_with("cursor=")) query += std::string(rest.substr(0, end)) + "&";
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        response.set(
            "Link",
            fmt::format(
                "<{}?{}cursor={}>; rel=\"next\"", call.href("/instances"), query, listing.cursor()
            )
        );
    }
    return response;
}

/// Its sentences tell no more of payloads than the caller may read.
InstanceView show_to(Service& service, const Call& call, const InstanceId& id) {
    return Engine::Core::of(service.reader).show(id, shown_payloads(service, call.principal));
}

http::Response get_instance(Service& service, Call& call) {
    const InstanceId id = resolve(service, call);
    // Answered from the row alone, without its history.
    if (!call.request.header("If-None-Match").empty()) {
        const auto found = service.reader.find(id);
        if (found && matches(call, etag_of(found->revision))) {
            return not_modified(etag_of(found->revision));
        }
    }
    const InstanceView view = show_to(service, call, id);
    PayloadDocument document(
        payload_view(service, call, id, {view.summary.workflow, view.summary.version})
    );
    call.query.check_all_used();
    Json json = view::summary_json(view.summary);
    json["input"] = document.value(
        view.input, call.href("/instances/" + id.to_string() + "/history/1/payload")
    );
    json["output"] = document.value(view.output);
    json["error"] = document.value(view.error);
    if (!view.attributes.empty()) json["attributes"] = document.value(view.attributes);
    json["waiting_for"] = Json::array();
    for (const WaitingFor& wait : view.waiting_for) {
        json["waiting_for"].push_back(view::waiting_json(wait));
    }
    json["steps"] = Json::object();
    for (const StepView& step : view.steps) {
        Json& count = json["steps"][std::string(to_string(step.status))];
        count = count.is_null() ? 1 : count.get<int>() + 1;
    }
    auto response = json_response(200, document.text(json));
    response.set("ETag", etag_of(view.summary.revision));
    return response;
}

http::Response list_steps(Service& service, Call& call) {
    const InstanceId id = resolve(service, call);
    const auto node = call.query.text("node");
    const auto status = call.query.text("status");
    const auto limit = call.query.integer("limit", 1, kPageMax).value_or(50);
    const auto after = call.query.integer("cursor", 0, 1'000'000'000).value_or(0);
    const InstanceView view = show_to(service, call, id);
    PayloadDocument document(
        payload_view(service, call, id, {view.summary.workflow, view.summary.version})
    );
    call.query.check_all_used();
    Json items = Json::array();
    Json next = nullptr;
    for (std::size_t at = static_cast<std::size_t>(after); at < view.steps.size(); ++at) {
        const StepView& step = view.steps[at];
        if (node && step.node != *node) continue;
        if (status && to_string(step.status) != *status) continue;
        if (static_cast<std::int64_t>(items.size()) == limit) {
            next = std::to_string(at);
            break;
        }
        items.push_back(document.step(step));
    }
    return json_response(
        200, document.text({{"items", std::move(items)}, {"next_cursor", std::move(next)}})
    );
}

http::Response get_graph(Service& service, Call& call) {
    const InstanceId id = resolve(service, call);
    call.query.check_all_used();
    InstanceView view = show_to(service, call, id);
    const PayloadView payloads = payload_view(
        service, call.principal, {view.summary.workflow, view.summary.version}, call.is_own
    );
    for (StepView& step : view.steps) {
        if (payloads.is_hidden && !step.error.empty()) {
            step.error = engine::without_message(step.error);
        }
    }
    Json marks = Json::object();
    for (const auto& [node, mark] : marks_of(view)) {
        marks[node] = {
            {"status", to_string(mark.state)},
            {"attempts", mark.attempts},
            {"note", view::text_json(mark.note)},
        };
    }
    auto response = json_response(
        200,
        Json{
            {"workflow", view.summary.workflow},
            {"version", view.summary.version},
            {"revision", view.summary.revision},
            {"status", view.summary.status},
            {"marks", std::move(marks)},
        }
    );
    response.set("ETag", etag_of(view.summary.revision));
    return response;
}

http::Response get_why(Service& service, Call& call) {
    const InstanceId id = resolve(service, call);
    call.query.check_all_used();
    const InstanceView view = show_to(service, call, id);
    Json waiting = Json::array();
    for (const WaitingFor& wait : view.waiting_for) waiting.push_back(view::waiting_json(wait));
    return json_response(
        200,
        Json{
            {"id", id.to_string()},
            {"why",
             Engine::Core::of(service.reader).why(id, shown_payloads(service, call.principal))},
            {"waiting_for", std::move(waiting)},
            {"unblock", unblocking_requests(view, call)},
        }
    );
}

}  // namespace

view::Json list_page(Service& service, const Principal& principal, const std::string& text) {
    Query query(text);
    Listing listing(query, service.clock.now());
    query.check_all_used();
    listing.limit_to(service, principal);
    listing.read(service.reads);
    return listing.items();
}

void add_instance_routes(Routes& routes, Service& service) {
    const auto add = [&](std::string_view path,
                         std::string_view operation,
                         http::Response (*handle)(Service&, Call&)) {
        routes.push_back(
            {.method = "GET",
             .path = path,
             .operation = operation,
             .permission = "instances.read",
             .handle = [&service, handle](Call& call) { return handle(service, call); },
             .reach = Reach::Project}
        );
    };
    add("/instances", "listInstances", list_instances);
    add("/instances/{id}", "getInstance", get_instance);
    add("/instances/{id}/steps", "listSteps", list_steps);
    add("/instances/{id}/graph", "getGraph", get_graph);
    add("/instances/{id}/why", "getWhy", get_why);
}

}  // namespace ebb::server
