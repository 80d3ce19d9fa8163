// What a complete search did not reach: no instance can get there.

#include <algorithm>

#include <fmt/format.h>

#include "core/rules_analysis/findings.h"

namespace ebb::rules_analysis {

namespace {

using Severity = Diagnostic::Severity;

/// Said of what other values than the listed ones could reach.
constexpr std::string_view kIfListed =
    ", as long as transitions write only the values that their `writes` list";

void find_triggers(
    const Subject& subject, const Search& search, const Search* unlisted, Notes& notes
) {
    for (std::size_t i = 0; i < subject.trigger_count(); ++i) {
        const std::string path = trigger_path(i);
        const bool is_enabled = subject.rules().triggers[i].is_enabled;
        if (!is_enabled || search.fires(i) || notes.is_explained(path)) continue;
        const bool is_certain =
            unlisted == nullptr || (unlisted->is_complete() && !unlisted->fires(i));
        notes.note(
            is_certain ? Severity::Error : Severity::Warning,
            "never_enabled",
            path,
            fmt::format(
                "The trigger \"{}\" never fires{}: its condition can be true, but in no state that "
                "an instance can reach.",
                subject.triggers()[i].name,
                is_certain ? "" : kIfListed
            )
        );
    }
}

void find_finals(
    const Subject& subject, const Search& search, const Search* unlisted, Notes& notes
) {
    for (std::size_t i = 0; i < subject.finals().size(); ++i) {
        const std::string path = condition_path("final", i);
        if (search.completes(i) || notes.is_explained(path)) continue;
        const std::string& name = subject.finals()[i].name;
        const bool is_certain =
            unlisted == nullptr || (unlisted->is_complete() && !unlisted->completes(i));
        const Severity severity = is_certain ? Severity::Error : Severity::Warning;
        const std::string_view limit = is_certain ? "" : kIfListed;
        if (search.is_blocked(i)) {
            notes.note(
                severity,
                "livelock_final",
                path,
                fmt::format(
                    "The final condition \"{}\" is true only while other transitions are "
                    "pending{}, and `final_while_pending: refuse` refuses it then. Use `wait` or "
                    "`stop`.",
                    name,
                    limit
                )
            );
            continue;
        }
        notes.note(
            severity,
            "unreachable_final",
            path,
            fmt::format(
                "The final condition \"{}\" never ends an instance{}: it can be true, but in no "
                "state that an instance can reach.",
                name,
                limit
            )
        );
    }
}

}  // namespace

void find_unreachable(
    const Subject& subject, const Search& search, const Search* unlisted, Notes& notes
) {
    find_triggers(subject, search, unlisted, notes);
    find_finals(subject, search, unlisted, notes);
}

}  // namespace ebb::rules_analysis
