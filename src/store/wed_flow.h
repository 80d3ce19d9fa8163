#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <ebb/store.h>
#include <ebb/time.h>

// Flows of WED-SQL, the system that rules come from.

namespace ebb {

/// What WED-SQL (its second version) knows of a flow: the rows of its tables wed_attr and wed_trig.
struct WedFlow {
    struct Attribute {
        std::int64_t number = 0;  ///< aid
        std::string name{};
        std::string initial{};  ///< its default, a text; empty = none
        int line = 0;           ///< where a text defines it; 0 = it comes from a database
    };

    struct Trigger {
        std::int64_t number = 0;  ///< tgid
        std::string name{};
        std::string transition{};  ///< empty for a final condition
        std::string condition{};
        bool is_final = false;
        bool is_enabled = true;
        std::optional<Duration> timeout{};
        int line = 0;  ///< as above
    };

    std::vector<Attribute> attributes{};
    std::vector<Trigger> triggers{};
};

/// Where the tables of a flow of WED-SQL are.
struct WedSource {
    std::string url{};  ///< postgresql://...
    std::string schema = "public";
};

/// What a database of WED-SQL holds.
struct WedDatabase {
    WedFlow flow{};
    std::int64_t instances = 0;
    std::int64_t jobs = 0;    ///< pending ones
    std::int64_t claims = 0;  ///< jobs that a worker holds at this moment
    /// Columns of wed_flow that no row of wed_attr names.
    std::vector<std::string> other_columns{};
};

/// Only reads. Throws Error: StoreUnavailable if there is no connection, InvalidArgument if the
/// schema has no tables of WED-SQL, or those of its first or third version. Component
/// ebb::postgres.
WedDatabase read_wed_database(const WedSource& source);

/// Makes the flow `name` in the database `target` of the one in `source`, all of one moment, with
/// its instances, their pending jobs and their traces. All of it or nothing. Returns how many
/// instances there are. Throws Error: InvalidState if the target has no functions for rules in SQL,
/// InvalidArgument with a precise sentence for what cannot be taken over. Component ebb::postgres.
std::int64_t import_wed_database(
    const WedSource& source, const PostgresOptions& target, const std::string& name
);

}  // namespace ebb
