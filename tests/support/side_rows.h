#pragma once

#include <map>
#include <string>

#include <fmt/format.h>

#include "core/kernel/program.h"
#include "store/store.h"

// The invariant of side rows: they say what the states say.

namespace ebb::testing {

/// The side rows of all instances, as side_rows_text().
inline std::map<InstanceId, Effects> side_rows_in(Store& store) {
    std::map<InstanceId, Effects> rows;
    for (const auto kind : {Wait::Kind::Decision, Wait::Kind::Signal}) {
        WaitQuery query{.kind = kind, .which = {.limit = DecisionQuery::kLimitMax}};
        for (auto page = store.list_waits(query); !page.empty(); page = store.list_waits(query)) {
            for (const WaitRow& row : page) {
                rows[row.instance].waits.push_back({.token = row.token, .wait = row.wait});
            }
            const WaitRow& last = page.back();
            query.which.after = WaitPlace{last.wait.since, last.instance, last.token};
        }
    }
    for (const FailureGroup& group : store.failure_groups({}).groups) {
        FailureQuery query{.group = group.newest.group, .limit = FailureQuery::kLimitMax};
        for (auto page = store.list_failures(query); !page.empty();
             page = store.list_failures(query)) {
            for (const FailedInstance& row : page) {
                rows[row.instance].failures.push_back({.note = row.note});
            }
            query.after = page.back().place();
        }
    }
    return rows;
}

/// What is wrong with the dates of the waits; empty = nothing.
inline std::string wrong_dates(Store& store, const InstanceId& id, const Effects& rows) {
    for (const WaitChange& change : rows.waits) {
        const auto begun = store.history({
            .instance = id,
            .limit = 1'000,
            .order = HistoryQuery::Order::Backward,
            .types = {HistoryType::DecisionAwaited, HistoryType::SignalAwaited},
            .node = change.wait.node,
        });
        for (const HistoryEvent& event : begun) {
            if (event.visit != change.wait.visit) continue;
            // Where it has come from elsewhere, it waits here since then.
            if (event.at <= change.wait.since) break;
            return fmt::format("token {} waits since a time before its wait", change.token);
        }
    }
    return {};
}

/// What is wrong with the side rows of any instance; empty = nothing.
inline std::string wrong_side_rows(Store& store) {
    std::map<InstanceId, Effects> rows = side_rows_in(store);
    std::map<std::pair<std::string, int>, std::shared_ptr<const Program>> programs;
    InstanceQuery query{.limit = 1'000};
    for (auto page = store.list(query); !page.empty(); page = store.list(query)) {
        for (const InstanceRow& row : page) {
            query.before = row.id;
            auto& program = programs[{row.workflow, row.version}];
            if (!program) {
                const auto kept = store.find_workflow(row.workflow, row.version);
                program = Program::compile(parse_definition_json(kept->definition));
            }
            const InstanceState state = decode_state(row.state, *program);
            const Effects& found = rows[row.id];
            const std::string want = side_rows_text(side_rows_of(*program, state, nullptr, {}));
            const std::string have = side_rows_text(found);
            if (want != have) {
                return fmt::format(
                    "the side rows of {} are \"{}\", and its state says \"{}\"",
                    row.id.to_string(),
                    have,
                    want
                );
            }
            if (std::string wrong = wrong_dates(store, row.id, found); !wrong.empty()) return wrong;
            rows.erase(row.id);
        }
    }
    if (rows.empty()) return {};
    return "there are side rows of " + rows.begin()->first.to_string() + ", which is gone";
}

}  // namespace ebb::testing
