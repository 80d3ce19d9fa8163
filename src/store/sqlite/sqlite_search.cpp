#include <map>

#include <ebb/error.h>

#include "ebb/sqlite/search_sql.h"
#include "store/filter_sql.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/sqlite_store.h"

// The verbs that look for instances by a filter. They step through the newest instances, or through
// those with a label, and the statement says of each whether the filter holds.

namespace ebb {

namespace search_sql = sqlite::search_sql;
using sqlite::Database;
using sqlite::OneTimeStatement;
using sqlite::Query;

namespace {

constexpr filter::Dialect kSearch{
    .label_exists = search_sql::label_exists,
    .failure_exists = search_sql::failure_exists,
    .all = search_sql::search,
    .labeled = search_sql::search_labeled,
};
constexpr filter::Dialect kTally{
    .label_exists = search_sql::label_exists,
    .failure_exists = search_sql::failure_exists,
    .all = search_sql::tally,
    .labeled = search_sql::tally_labeled,
};

/// The statement and what it refers to.
struct SearchStatement {
    SearchStatement(const InstanceSearch& search, const filter::Dialect& dialect)
        // '~' is greater than every id.
        : before(search.before ? search.before->to_string() : "~"),
          from(search.from ? search.from->to_string() : ""),
          writer(dialect, 2) {
        statement.sql = writer.statement(whole_condition(search), search.order);
        statement.arguments.emplace_back(std::string_view(before));
        statement.arguments.emplace_back(std::string_view(from));
        for (const filter::SqlArgument& argument : writer.arguments()) {
            if (const auto* const text = std::get_if<std::string>(&argument)) {
                statement.arguments.emplace_back(std::string_view(*text));
            } else if (const auto* const number = std::get_if<double>(&argument)) {
                statement.arguments.emplace_back(*number);
            } else {
                statement.arguments.emplace_back(std::get<std::int64_t>(argument));
            }
        }
    }

    SearchStatement(const SearchStatement&) = delete;
    SearchStatement& operator=(const SearchStatement&) = delete;

    std::string before;
    std::string from;
    filter::SqlWriter writer;
    OneTimeStatement statement;
};

}  // namespace

InstanceHits SqliteStore::search(const InstanceSearch& search) {
    check_search(search);
    constexpr int kHolds = 11;
    SearchStatement made(search, kSearch);
    return read([&](Database& database) {
        InstanceHits hits;
        Query found(database, made.statement);
        for (int seen = 1; found.step(); ++seen) {
            const InstanceId id = sqlite::parse_id(found.text(0), "instances");
            if (found.integer(kHolds) != 0) {
                try {
                    hits.rows.push_back(sqlite::instance_row(found));
                } catch (const Error& error) {
                    if (error.code() != ErrorCode::CorruptState) throw;
                }
            }
            const bool is_full = std::ssize(hits.rows) == search.limit;
            if (is_full || seen == search.scan_max) {
                hits.next = id;
                break;
            }
        }
        return hits;
    });
}

InstanceTally SqliteStore::tally(const InstanceSearch& search) {
    check_search(search);
    constexpr int kHolds = 3;
    SearchStatement made(search, kTally);
    return read([&](Database& database) {
        std::map<std::pair<std::string, InstanceStatus>, std::int64_t> counts;
        InstanceTally tally;
        Query found(database, made.statement);
        for (int seen = 1; found.step(); ++seen) {
            const auto status = parse_status(found.text(2));
            if (found.integer(kHolds) != 0 && status) {
                counts[{std::string(found.text(1)), *status}] += 1;
            }
            if (seen == search.scan_max) {
                tally.next = sqlite::parse_id(found.text(0), "instances");
                break;
            }
        }
        for (const auto& [key, count] : counts) {
            tally.counts.push_back({key.first, key.second, count});
        }
        return tally;
    });
}

}  // namespace ebb
