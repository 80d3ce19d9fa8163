// Removes old rows of an audit, so that the rest can still be checked.

#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "server/auth/audit.h"
#include "support/clock.h"

namespace ebb::server {

namespace {

using nlohmann::ordered_json;

constexpr std::string_view kKind = "audit_cut";
constexpr std::string_view kName = "cut";
constexpr int kPage = 1'000;
constexpr auto kDay = std::chrono::hours(24);

void save(AdminStore& store, const AuditCut& cut) {
    ordered_json ends = ordered_json::object();
    for (const auto& [chain, end] : cut.ends) {
        ends[chain] = {{"number", end.number}, {"hash", end.hash}};
    }
    const ordered_json document = {{"before", format_time(cut.before)}, {"ends", std::move(ends)}};
    store.put({std::string(kKind), std::string(kName), document.dump()});
}

}  // namespace

AuditCut load_audit_cut(AdminStore& store) {
    AuditCut cut;
    const auto row = store.find(kKind, kName);
    if (!row) return cut;
    const ordered_json document = ordered_json::parse(row->document);
    cut.before = parse_time(document.at("before").get<std::string>()).value_or(TimePoint{});
    for (const auto& [chain, end] : document.at("ends").items()) {
        cut.ends[chain] = {end.at("number").get<std::int64_t>(), end.at("hash").get<std::string>()};
    }
    return cut;
}

std::int64_t purge_audit(
    AdminStore& store, const Clock& clock, LogSink* log, Duration age, const std::string& by
) {
    const TimePoint before{(clock.now() - age).time_since_epoch() / kDay * kDay};
    std::int64_t removed = 0;
    AuditCut cut = load_audit_cut(store);
    while (true) {
        auto rows = store.list_audit({.is_forward = true, .limit = kPage});
        std::erase_if(rows, [&](const AuditRow& row) { return row.at >= before; });
        if (rows.empty()) break;
        cut.before = before;
        for (const AuditRow& row : rows) cut.ends[row.chain] = {row.number, row.hash};
        // Before the removal: if this process dies in between, the rest can be checked.
        save(store, cut);
        removed += store.remove_audit(rows.back().id);
    }
    if (removed == 0) return 0;
    const std::string day = format_time(before);
    Audit(store, clock, log)
        .write(
            {.principal = by,
             .credential = "local",
             .action = "purgeAudit",
             .detail = ordered_json{{"before", day}, {"rows", removed}}.dump()}
        );
    if (log != nullptr && log->is_enabled(LogLevel::Info)) {
        const LogField fields[] = {{"before", day}, {"rows", removed}};
        log->write(LogLevel::Info, "audit_purged", fields);
    }
    return removed;
}

}  // namespace ebb::server
