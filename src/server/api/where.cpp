#include "server/api/where.h"

#include <map>

#include <fmt/format.h>

#include "core/filter/status_words.h"
#include "core/model/label_values.h"
#include "server/api/problem.h"
#include "server/api/service.h"
#include "view/payload_json.h"

namespace ebb::server {

namespace {

using filter::Condition;
using view::Json;

constexpr int kCountPage = 2'000;

/// `NAME:VALUE` of a text.
Condition label_condition(const std::string& label) {
    const std::size_t colon = label.find(':');
    const std::string name = label.substr(0, colon);
    if (colon == std::string::npos || !is_label_name(name)) {
        throw Problem(
            "invalid_argument",
            "The parameter \"label\" is NAME:VALUE, of a label whose value is a text."
        );
    }
    Condition condition{
        .kind = Condition::Kind::Compare,
        .field = {.kind = filter::Field::Kind::Label, .label = name}
    };
    condition.operand = label.substr(colon + 1);
    return condition;
}

Condition compare(filter::Field::Kind kind, filter::Operator op, const std::string& value) {
    Condition condition{.kind = Condition::Kind::Compare, .field = {.kind = kind}, .op = op};
    condition.operand = value;
    return condition;
}

Condition any_of(std::vector<Condition> parts) {
    if (parts.size() == 1) return Condition(parts.front());
    return {.kind = Condition::Kind::Or, .parts = std::move(parts)};
}

/// What a parameter with one or several values says of a field.
std::optional<Condition> field_condition(
    Query& query, std::string_view name, filter::Field::Kind kind
) {
    std::vector<Condition> parts;
    for (const std::string& value : query.list(name)) {
        parts.push_back(compare(kind, filter::Operator::Equal, value));
    }
    if (parts.empty()) return std::nullopt;
    if (parts.size() > filter::Limits::kAlternativesMax) {
        throw Problem(
            "invalid_argument",
            fmt::format(
                "The parameter \"{}\" has more than {} values.",
                name,
                filter::Limits::kAlternativesMax
            )
        );
    }
    return any_of(std::move(parts));
}

/// What a person may remember of an instance: its id, its key, its workflow, or its error.
std::optional<Condition> word_condition(Query& query) {
    using Kind = filter::Field::Kind;
    using filter::Operator;
    const auto word = query.text("q");
    if (!word) return std::nullopt;
    std::vector<Condition> parts{
        compare(Kind::Key, Operator::StartsWith, *word),
        compare(Kind::Workflow, Operator::StartsWith, *word),
        compare(Kind::ErrorCode, Operator::Equal, *word),
    };
    if (const auto id = InstanceId::parse(*word)) {
        parts.push_back(compare(Kind::Id, Operator::Equal, id->to_string()));
    }
    return any_of(std::move(parts));
}

/// The range of ids and the filters of a count.
InstanceSearch read_search(Query& query, TimePoint now) {
    InstanceSearch search{.scan_max = kCountPage};
    for (const std::string& status : query.list("status")) {
        const auto known = parse_status(status);
        if (!known) {
            throw Problem(
                "invalid_argument", "The parameter \"status\": " + filter::unknown_status(status)
            );
        }
        search.statuses.push_back(*known);
    }
    search.workflow = query.text("workflow").value_or("");
    if (const auto version = query.integer("version", 1, 2'147'483'647)) {
        search.version = static_cast<int>(*version);
    }
    search.key = query.text("key").value_or("");
    search.where = read_where(query, now).value_or(Condition{});
    search.before = query.id("before");
    if (const auto after = query.id("after")) search.from = next_id(*after);
    return search;
}

/// Of at most kScanRowsMax instances; the next request goes on.
http::Response count_instances(Service& service, Call& call) {
    using Steady = std::chrono::steady_clock;
    InstanceSearch search = read_search(call.query, service.clock.now());
    const auto project = call.query.text("project");
    call.query.check_all_used();
    const auto wanted = workflows_of_project(service, project, search.workflow);
    const auto visible =
        wanted ? visible_instances(service, call.principal, *wanted) : std::nullopt;
    if (visible) search.workflow = visible->workflows;
    if (visible && visible->own) {
        search.where = {.kind = Condition::Kind::And, .parts = {*visible->own, search.where}};
    }
    const auto end = Steady::now() + kScanTimeMax;
    std::map<std::pair<std::string, InstanceStatus>, std::int64_t> sums;
    for (int scanned = 0; visible && scanned < kScanRowsMax; scanned += kCountPage) {
        const InstanceTally tally = service.reads.tally(search);
        for (const StatusCount& count : tally.counts) {
            sums[{count.workflow, count.status}] += count.count;
        }
        search.before = tally.next;
        if (!tally.next || Steady::now() >= end) break;
    }
    Json counts = Json::array();
    std::int64_t total = 0;
    for (const auto& [key, count] : sums) {
        counts.push_back({{"workflow", key.first}, {"status", key.second}, {"count", count}});
        total += count;
    }
    return json_response(
        200,
        Json{
            {"total", total},
            {"counts", std::move(counts)},
            {"next_before", search.before ? Json(search.before->to_string()) : Json(nullptr)},
            {"complete", !search.before.has_value()},
        }
    );
}

}  // namespace

filter::Condition compile_where(const std::string& where, TimePoint now) {
    try {
        return filter::compile(where, now);
    } catch (const ExpressionError& error) {
        throw Problem("invalid_expression", error.what())
            .with("line", error.line())
            .with("column", error.column());
    }
}

std::optional<filter::Condition> read_where(Query& query, TimePoint now) {
    Condition all{.kind = Condition::Kind::And};
    if (const auto where = query.text("where")) {
        all.parts.push_back(compile_where(*where, now));
    }
    for (const std::string& label : query.all("label")) {
        all.parts.push_back(label_condition(label));
    }
    using Kind = filter::Field::Kind;
    for (auto& condition : {
             field_condition(query, "failure", Kind::ErrorGroup),
             field_condition(query, "error_code", Kind::ErrorCode),
             field_condition(query, "error_step", Kind::ErrorStep),
             word_condition(query),
         }) {
        if (condition) all.parts.push_back(*condition);
    }
    if (all.parts.empty()) return std::nullopt;
    if (all.parts.size() == 1) return Condition(all.parts.front());
    return all;
}

void add_count_routes(Routes& routes, Service& service) {
    routes.push_back(
        {.method = "GET",
         .path = "/instances/count",
         .operation = "countInstances",
         .permission = "instances.read",
         .handle = [&service](Call& call) { return count_instances(service, call); },
         .reach = Reach::Project}
    );
}

}  // namespace ebb::server
