#include <utility>

#include <fmt/format.h>

#include "support/json_schema_run.h"
#include "support/json_schema_values.h"

namespace ebb {

bool SchemaRun::all_of(const SchemaCheck& check) {
    bool do_fit = true;
    for (const Json& schema : check.argument) {
        do_fit = fits(schema, check.value, check.at) && do_fit;
        if (!do_fit && is_full()) break;
    }
    return do_fit;
}

bool SchemaRun::any_of(const SchemaCheck& check) {
    for (const Json& schema : check.argument) {
        if (would_fit(schema, check.value, check.at)) return true;
    }
    return fits_none(check, "anyOf");
}

bool SchemaRun::one_of(const SchemaCheck& check) {
    std::vector<std::size_t> fitting;
    for (std::size_t i = 0; i < check.argument.size() && fitting.size() < 2; ++i) {
        if (would_fit(check.argument[i], check.value, check.at)) fitting.push_back(i);
    }
    if (fitting.size() == 1) return true;
    if (fitting.empty()) return fits_none(check, "oneOf");
    return violated(
        check.at,
        fmt::format(
            "expected exactly one fitting alternative of oneOf, but {} and {} fit",
            fitting[0],
            fitting[1]
        )
    );
}

bool SchemaRun::fits_none(const SchemaCheck& check, std::string_view keyword) {
    if (is_full()) return false;
    std::vector<std::string> noted = std::exchange(found_, {});
    std::string nearest;
    for (const Json& schema : check.argument) {
        fits(schema, check.value, check.at);
        if (!found_.empty()) {
            const auto depth = [](const std::string& text) { return text.find(": "); };
            if (nearest.empty() || depth(found_.front()) > depth(nearest)) {
                nearest = found_.front();
            }
        }
        found_.clear();
    }
    found_ = std::move(noted);
    return violated(
        check.at,
        fmt::format(
            "fits none of the {} alternatives of {} ({})", check.argument.size(), keyword, nearest
        )
    );
}

bool SchemaRun::negation(const SchemaCheck& check) {
    if (!would_fit(check.argument, check.value, check.at)) return true;
    return violated(check.at, "fits what \"not\" excludes");
}

bool SchemaRun::condition(const SchemaCheck& check) {
    const bool is_met = would_fit(check.argument, check.value, check.at);
    const auto branch = check.schema.find(is_met ? "then" : "else");
    return branch == check.schema.end() || fits(*branch, check.value, check.at);
}

}  // namespace ebb
