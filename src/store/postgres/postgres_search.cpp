#include <map>

#include <ebb/error.h>

#include "ebb/postgres/search_sql.h"
#include "store/filter_sql.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/rows.h"

// The verbs that look for instances by a filter.

namespace ebb {

namespace search_sql = postgres::search_sql;
using postgres::Arguments;
using postgres::Connection;
using postgres::Result;

namespace {

constexpr filter::Dialect kSearch{
    .is_postgres = true,
    .label_exists = search_sql::label_exists,
    .failure_exists = search_sql::failure_exists,
    .all = search_sql::search,
    .labeled = search_sql::search_labeled,
};
constexpr filter::Dialect kTally{
    .is_postgres = true,
    .label_exists = search_sql::label_exists,
    .failure_exists = search_sql::failure_exists,
    .all = search_sql::tally,
    .labeled = search_sql::tally_labeled,
};

struct SearchStatement {
    std::string sql;
    Arguments arguments;
};

/// Its arguments are the range of ids, how many are read, `limit` if there is one, and those of the
/// filter.
SearchStatement make_statement(
    const InstanceSearch& search, const filter::Dialect& dialect, std::optional<int> limit
) {
    filter::SqlWriter writer(dialect, limit ? 4 : 3);
    SearchStatement made;
    made.sql = writer.statement(whole_condition(search), search.order);
    InstanceId last;
    last.bytes.fill(0xff);
    made.arguments = Arguments::of(
        search.before.value_or(last),
        search.from.value_or(InstanceId{}),
        std::int64_t{search.scan_max}
    );
    if (limit) made.arguments.add(std::int64_t{*limit});
    for (const filter::SqlArgument& argument : writer.arguments()) {
        if (const auto* const text = std::get_if<std::string>(&argument)) {
            made.arguments.add(*text);
        } else {
            made.arguments.add(std::get<std::int64_t>(argument));
        }
    }
    return made;
}

}  // namespace

InstanceHits PostgresStore::search(const InstanceSearch& search) {
    check_search(search);
    constexpr int kHolds = 11;
    constexpr int kNumber = 12;
    const SearchStatement made = make_statement(search, kSearch, search.limit);
    const Result found = perform(Repeat::Freely, [&](Connection& connection) {
        return connection.run_once(made.sql, made.arguments);
    });
    InstanceHits hits;
    for (int row = 0; row < found.rows(); ++row) {
        const bool is_last_read = found.integer(row, kNumber) == search.scan_max;
        if (is_last_read || row + 1 == search.limit) hits.next = found.id(row, 0);
        if (!found.boolean(row, kHolds)) continue;
        try {
            hits.rows.push_back(postgres::instance_row(found, row));
        } catch (const Error& error) {
            if (error.code() != ErrorCode::CorruptState) throw;
        }
    }
    return hits;
}

InstanceTally PostgresStore::tally(const InstanceSearch& search) {
    check_search(search);
    const SearchStatement made = make_statement(search, kTally, std::nullopt);
    const Result found = perform(Repeat::Freely, [&](Connection& connection) {
        return connection.run_once(made.sql, made.arguments);
    });
    std::map<std::pair<std::string, InstanceStatus>, std::int64_t> counts;
    InstanceTally tally;
    for (int row = 0; row < found.rows(); ++row) {
        if (!found.is_null(row, 3)) tally.next = InstanceId::parse(found.text(row, 3));
        const auto status = parse_status(found.text(row, 1));
        const std::int64_t count = found.integer(row, 2);
        if (status && count > 0) counts[{std::string(found.text(row, 0)), *status}] += count;
    }
    for (const auto& [key, count] : counts) {
        tally.counts.push_back({key.first, key.second, count});
    }
    return tally;
}

}  // namespace ebb
