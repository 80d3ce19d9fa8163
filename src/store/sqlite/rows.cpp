#include "store/sqlite/rows.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ebb/error.h>

#include "ebb/sqlite/sql.h"

namespace ebb::sqlite {

namespace {

std::vector<std::string> names_from_json(std::string_view text, std::string_view worker) {
    const Json json = Json::parse(text, nullptr, false);
    std::vector<std::string> names;
    bool is_valid = json.is_array();
    for (const Json& name : json) {
        is_valid = is_valid && name.is_string();
        if (is_valid) names.push_back(name.get<std::string>());
    }
    if (is_valid) return names;
    throw Error(
        ErrorCode::CorruptState,
        fmt::format("The worker \"{}\" has a list that is not a JSON array of names.", worker)
    );
}

}  // namespace

InstanceId parse_id(std::string_view text, std::string_view table) {
    if (const auto id = InstanceId::parse(text)) return *id;
    throw Error(
        ErrorCode::CorruptState,
        fmt::format("The table {} holds \"{}\", which is not an id.", table, text)
    );
}

InstanceRow instance_row(const Query& query) {
    InstanceRow row;
    row.id = parse_id(query.text(0), "instances");
    row.workflow = query.text(1);
    row.version = static_cast<int>(query.integer(2));
    row.key = query.text(3);
    const auto status = parse_status(query.text(4));
    if (!status) {
        throw Error(
            ErrorCode::CorruptState,
            fmt::format(
                "The instance {} has the unknown status \"{}\".", query.text(0), query.text(4)
            )
        );
    }
    row.status = *status;
    row.revision = query.integer(5);
    row.priority = static_cast<int>(query.integer(6));
    row.created_at = query.time(7);
    row.updated_at = query.time(8);
    row.finished_at = query.time(9);
    row.state = query.text(10);
    return row;
}

HistoryEvent history_event(const Query& query, const InstanceId& instance, int first) {
    HistoryEvent event;
    event.seq = query.integer(first);
    const auto type = parse_history_type(query.text(first + 1));
    if (!type) {
        throw Error(
            ErrorCode::CorruptState,
            fmt::format(
                "Event {} of the instance {} has the unknown type \"{}\".",
                event.seq,
                instance.to_string(),
                query.text(first + 1)
            )
        );
    }
    event.type = *type;
    event.node = query.text(first + 2);
    event.path = query.text(first + 3);
    event.token = query.integer(first + 4);
    event.visit = query.integer(first + 5);
    event.attempt = static_cast<std::int32_t>(query.integer(first + 6));
    event.ref = query.integer(first + 7);
    event.worker = query.text(first + 8);
    event.started_at = query.time(first + 9);
    event.at = query.time(first + 10);
    event.payload = Payload(query.text(first + 11));
    return event;
}

std::vector<WorkerRow> worker_rows(Database& database, const Clock& clock, std::string_view boot) {
    std::vector<WorkerRow> rows;
    const Duration::rep steady = clock.steady_now().time_since_epoch().count();
    Query query(database, sql::list_workers, clock.now(), boot, steady);
    while (query.step()) {
        WorkerRow row;
        row.id = query.text(0);
        row.host = query.text(1);
        row.pid = query.integer(2);
        row.handlers = names_from_json(query.text(3), row.id);
        row.queues = names_from_json(query.text(4), row.id);
        row.capacity = static_cast<int>(query.integer(5));
        row.started_at = query.time(6);
        row.expires_at = query.time(7);
        rows.push_back(std::move(row));
    }
    return rows;
}

std::string names_to_json(const std::vector<std::string>& names) {
    return Json(names).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace ebb::sqlite
