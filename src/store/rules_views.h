#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <ebb/error.h>
#include <ebb/rules.h>
#include <ebb/store.h>

// Views by which other programs read the instances of a workflow with rules in SQL.

namespace ebb {

/// What the views are made of: `workflow` with a column for each attribute, `workflow_trace` and
/// `workflow_jobs`.
struct RulesViews {
    std::string workflow{};
    std::vector<Attribute> attributes{};  ///< of the newest version
};

/// Makes the views, or makes them again. Throws Error with InvalidState if a table or another view
/// has such a name. Component ebb::sqlite.
void make_rules_views(const SqliteOptions& options, const RulesViews& views);

/// The same in the schema of a PostgreSQL database, run by its owner. Component ebb::postgres.
void make_rules_views(const PostgresOptions& options, const RulesViews& views);

namespace rules_views {

inline std::vector<std::string> names_of(const std::string& workflow) {
    return {workflow, workflow + "_trace", workflow + "_jobs"};
}

/// `text` with `with` in each place of `what`.
inline std::string replaced(std::string text, std::string_view what, std::string_view with) {
    for (std::size_t at = text.find(what); at != std::string::npos;
         at = text.find(what, at + with.size())) {
        text.replace(at, what.size(), with);
    }
    return text;
}

/// The statement with what `@view`, `@trace`, `@jobs`, `@workflow` and `@columns` stand for. Names
/// of workflows and attributes have no quotes and no "@".
inline std::string filled(
    std::string_view sql, const RulesViews& views, const std::vector<std::string>& columns
) {
    const std::vector<std::string> names = names_of(views.workflow);
    std::vector<std::string> list;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        list.push_back(fmt::format("{} AS \"{}\"", columns[i], views.attributes[i].name));
    }
    std::string text(sql);
    text = replaced(text, "@view", fmt::format("\"{}\"", names[0]));
    text = replaced(text, "@trace", fmt::format("\"{}\"", names[1]));
    text = replaced(text, "@jobs", fmt::format("\"{}\"", names[2]));
    text = replaced(text, "@workflow", fmt::format("'{}'", views.workflow));
    return replaced(text, "@columns", fmt::format("{}", fmt::join(list, ", ")));
}

[[noreturn]] inline void refuse(std::string_view name) {
    throw Error(
        ErrorCode::InvalidState,
        fmt::format(
            "The database already has a table or view \"{}\", which `ebb rules view` did not make.",
            name
        )
    );
}

}  // namespace rules_views

}  // namespace ebb
