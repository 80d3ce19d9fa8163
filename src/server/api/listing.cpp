// Lists of instances.

#include "server/api/listing.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <set>

#include <fmt/format.h>

#include "core/filter/status_words.h"
#include "engine/view.h"
#include "server/api/payloads.h"
#include "server/api/standing.h"
#include "server/api/where.h"
#include "store/names.h"
#include "support/sha256.h"
#include "support/uuid.h"
#include "view/instance_json.h"
#include "view/outline.h"

namespace ebb::server {

namespace {

using view::Json;
using Steady = std::chrono::steady_clock;

/// So many are read at once if this process filters them.
constexpr int kScanPage = 500;
/// So many are read by one search with a filter, between two looks at the clock.
constexpr int kFilteredPage = 2'000;

/// Parameters that may change from page to page.
constexpr std::array<std::string_view, 6> kOfOnePage = {
    "cursor", "limit", "count", "outline", "payloads", "fields"
};

/// What an item has only with `outline`.
const std::set<std::string> kOutlineFields{"error", "waiting_for", "handlers"};
const std::set<std::string> kFields{
    "id",
    "workflow",
    "version",
    "key",
    "status",
    "priority",
    "revision",
    "created_at",
    "updated_at",
    "finished_at",
    "labels",
    "error",
    "waiting_for",
    "handlers",
};

InstanceStatus to_status(const std::string& text) {
    const auto status = parse_status(text);
    if (status) return *status;
    throw Problem("invalid_argument", "The parameter \"status\": " + filter::unknown_status(text));
}

/// How the items of a page are shown.
struct ItemOptions {
    bool has_outlines = false;
    std::string payloads = "short";
    std::set<std::string> fields{};  ///< empty = all

    /// Throws Problem.
    static ItemOptions read(Query& query) {
        ItemOptions options{
            .has_outlines = query.flag("outline"),
            .payloads = query.choice("payloads", {"short", "none", "full"}),
        };
        for (std::string& name : query.choices("fields", {kFields.begin(), kFields.end()})) {
            options.has_outlines |= kOutlineFields.contains(name);
            options.fields.insert(std::move(name));
        }
        return options;
    }

    Json selected(Json item) const {
        if (fields.empty()) return item;
        Json rest = Json::object();
        for (const auto& [name, value] : item.items()) {
            if (fields.contains(name)) rest[name] = value;
        }
        return rest;
    }
};

/// A page of instances: what to look for, and where the next page begins.
class Listing {
 public:
    Listing(Query& query, TimePoint now)
        : where_(read_where(query, now)),
          standing_(Standing::read(query)),
          project_(query.text("project")),
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
        wants_total_ = query.choice("count", {"none", "exact"}) == "exact";
        if (wants_total_ &&
            (query_.version || query_.has_system || !query_.key.empty() || !key_prefix_.empty() ||
             query.text("created_after") || query.text("created_before") || where_ ||
             !standing_.is_empty() || project_)) {
            throw Problem(
                "invalid_argument", "count=exact may only be combined with status and workflow."
            );
        }
        hash_ = sha256_hex(query.all_but(kOfOnePage)).substr(0, 16);
        if (const auto cursor = query.text("cursor")) read_cursor(*cursor);
    }

    /// It lists only what the principal may see.
    void limit_to(Service& service, const Principal& principal) {
        const auto wanted = workflows_of_project(service, project_, query_.workflow);
        const auto visible = wanted ? visible_instances(service, principal, *wanted) : std::nullopt;
        // What has ended stands nowhere.
        sees_nothing_ = !visible || (!standing_.is_empty() && !keep_live());
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

    void read(Service& service) {
        if (sees_nothing_) return;
        const auto end = Steady::now() + kScanTimeMax;
        for (int scanned = 0; scanned < kScanRowsMax;) {
            const Chunk chunk = read_chunk(service.reads);
            standing_.look_at(service, chunk.rows);
            for (const InstanceRow& row : chunk.rows) {
                if (std::ssize(rows_) >= limit_) return stop(true);
                last_ = row.id;
                scanned_to_ = row.created_at;
                if (row.key.starts_with(key_prefix_) && standing_.holds(row)) rows_.push_back(row);
                if (!standing_.is_empty() && Steady::now() >= end) return stop(false);
            }
            if (!chunk.next) return finish();
            last_ = *chunk.next;
            go_on_after(query_, last_);
            scanned += chunk.scanned;
            if (Steady::now() >= end) break;
        }
        if (const auto last = service.reads.load(last_)) scanned_to_ = last->created_at;
        stop(false);
    }

    Json items() const {
        Json items = Json::array();
        for (const InstanceRow& row : rows_) {
            items.push_back(view::summary_json(engine::to_summary(row)));
        }
        return items;
    }

    std::string text(Service& service, const Principal& principal, const ItemOptions& options)
        const {
        PayloadDocument document({.mode = options.payloads});
        Json json = {
            {"items", Json::array()},
            {"next_cursor", has_more_ ? Json(cursor()) : Json(nullptr)},
            {"scanned_to", view::time_json(scanned_to_)},
            {"complete", is_complete_},
            {"next_before", next(InstanceOrder::NewestFirst)},
            {"next_after", next(InstanceOrder::OldestFirst)},
        };
        for (Json& item :
             options.has_outlines ? outlines(service, principal, document, options) : items()) {
            json["items"].push_back(options.selected(std::move(item)));
        }
        if (wants_total_) json["total"] = total(service.reads);
        return document.text(json);
    }

    std::string cursor() const { return fmt::format("1.{}.{}", last_.to_string(), hash_); }

    bool has_more() const { return has_more_; }

 private:
    /// What the store finds at once.
    struct Chunk {
        std::vector<InstanceRow> rows;
        std::optional<InstanceId> next;  ///< where to go on; none: there are no more
        int scanned = 0;
    };

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

    /// Of the statuses that are wanted, those of instances that have not ended. False: none is.
    bool keep_live() {
        using enum InstanceStatus;
        if (query_.statuses.empty()) query_.statuses = {Running, Paused, Compensating, DeadLetter};
        std::erase_if(query_.statuses, [](InstanceStatus status) {
            return is_terminal(status) || status == Moved;
        });
        return !query_.statuses.empty();
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

    Chunk read_chunk(Store& store) {
        // One more than the page has tells whether there is another page.
        const int missing = limit_ + 1 - static_cast<int>(rows_.size());
        if (where_ || !has_index()) return search(store, missing);
        const bool filters_here = !key_prefix_.empty() || !standing_.is_empty();
        query_.limit = filters_here ? kScanPage : missing;
        Chunk chunk{.rows = store.list(query_)};
        chunk.scanned = static_cast<int>(chunk.rows.size());
        if (chunk.scanned == query_.limit) chunk.next = chunk.rows.back().id;
        return chunk;
    }

    /// The store judges the filter.
    Chunk search(Store& store, int missing) const {
        InstanceSearch search{
            .statuses = query_.statuses,
            .workflow = query_.workflow,
            .has_system = query_.has_system,
            .version = query_.version,
            .key = query_.key,
            .where = where_.value_or(filter::Condition{}),
            .before = query_.before,
            .from = query_.from,
            .limit = standing_.is_empty() ? missing : kScanPage,
            .scan_max = kFilteredPage,
            .order = query_.order,
        };
        if (!key_prefix_.empty()) search.where = with_prefix(search.where);
        InstanceHits hits = store.search(search);
        return {.rows = std::move(hits.rows), .next = hits.next, .scanned = kFilteredPage};
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
    Json outlines(
        Service& service,
        const Principal& principal,
        PayloadDocument& document,
        const ItemOptions& options
    ) const {
        view::Outliner outliner(
            service.reads, service.clock.now(), shown_payloads(service, principal)
        );
        Json items = Json::array();
        for (const InstanceRow& row : rows_) {
            const view::Outline outline = outliner.read(row);
            Json item = view::summary_json(outline.summary);
            PayloadView payloads = payload_view(
                service, principal, {row.workflow, row.version}, is_own(principal, row)
            );
            payloads.mode = options.payloads;
            document.go_on(std::move(payloads));
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

    void read_cursor(const std::string& cursor) {
        const std::size_t last = cursor.rfind('.');
        const bool has_parts = cursor.starts_with("1.") && last > 2 && last != std::string::npos;
        const auto id = has_parts ? InstanceId::parse(cursor.substr(2, last - 2)) : std::nullopt;
        if (!id) throw Problem("invalid_argument", "The cursor is not one of this server.");
        if (cursor.substr(last + 1) != hash_) {
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
    Standing standing_;
    std::optional<std::string> project_;
    std::string key_prefix_;
    int limit_;
    bool wants_total_ = false;
    bool sees_nothing_ = false;
    std::string hash_;  ///< of the filters and the order
    std::vector<InstanceRow> rows_;
    InstanceId last_;  ///< that was looked at
    bool has_more_ = false;
    bool is_complete_ = true;
    TimePoint scanned_to_{};
};

}  // namespace

http::Response list_instances(Service& service, Call& call) {
    const ItemOptions options = ItemOptions::read(call.query);
    Listing listing(call.query, service.clock.now());
    call.query.check_all_used();
    listing.limit_to(service, call.principal);
    listing.read(service);
    auto response = json_response(200, listing.text(service, call.principal, options));
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

view::Json list_page(Service& service, const Principal& principal, const std::string& text) {
    Query query(text);
    Listing listing(query, service.clock.now());
    // The stream has the rows alone.
    query.flag("outline");
    query.check_all_used();
    listing.limit_to(service, principal);
    listing.read(service);
    return listing.items();
}

}  // namespace ebb::server
