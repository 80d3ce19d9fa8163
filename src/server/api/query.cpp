#include "server/api/query.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "server/api/problem.h"
#include "server/api/router.h"
#include "support/clock.h"

namespace ebb::server {

namespace {

[[noreturn]] void refuse(std::string_view name, const std::string& why) {
    throw Problem("invalid_argument", fmt::format("The parameter \"{}\" {}.", name, why))
        .with("parameter", std::string(name));
}

std::string decode(std::string_view text) {
    // A plus is a space in a form's query.
    std::string plain(text);
    std::replace(plain.begin(), plain.end(), '+', ' ');
    auto decoded = percent_decode(plain);
    if (!decoded) throw Problem("invalid_argument", "The query is not encoded correctly.");
    return std::move(*decoded);
}

}  // namespace

Query::Query(std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('&'), text.size());
        const std::string_view pair = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (pair.empty()) continue;
        const std::size_t equals = std::min(pair.find('='), pair.size());
        const std::string_view value = pair.substr(std::min(equals + 1, pair.size()));
        if (parameters_.size() >= kParametersMax) {
            throw Problem(
                "invalid_argument",
                fmt::format("There are more than {} parameters.", kParametersMax)
            );
        }
        parameters_.emplace(decode(pair.substr(0, equals)), Parameter{decode(value)});
    }
}

std::vector<std::string> Query::all(std::string_view name) {
    std::vector<std::string> values;
    const auto [first, last] = parameters_.equal_range(name);
    for (auto at = first; at != last; ++at) {
        at->second.is_used = true;
        values.push_back(at->second.value);
    }
    return values;
}

std::optional<std::string> Query::text(std::string_view name) {
    auto value = any_text(name);
    if (value && value->empty()) refuse(name, "is empty");
    return value;
}

std::optional<std::string> Query::any_text(std::string_view name) {
    auto values = all(name);
    if (values.size() > 1) refuse(name, "is there more than once");
    if (values.empty()) return std::nullopt;
    return std::move(values.front());
}

std::vector<std::string> Query::list(std::string_view name) {
    std::vector<std::string> items;
    for (const std::string& value : all(name)) {
        for (std::size_t begin = 0; begin <= value.size();) {
            const std::size_t end = std::min(value.find(',', begin), value.size());
            if (end == begin) refuse(name, "is empty, or has an empty part");
            items.push_back(value.substr(begin, end - begin));
            begin = end + 1;
        }
    }
    return items;
}

std::optional<std::int64_t> Query::integer(
    std::string_view name, std::int64_t least, std::int64_t most
) {
    const auto value = text(name);
    if (!value) return std::nullopt;
    std::int64_t number = 0;
    const char* last = value->data() + value->size();
    const auto [end, error] = std::from_chars(value->data(), last, number);
    if (error != std::errc() || end != last || number < least || number > most) {
        refuse(name, fmt::format("is not a whole number from {} to {}", least, most));
    }
    return number;
}

bool Query::flag(std::string_view name) {
    return choice(name, {"false", "true"}) == "true";
}

std::string Query::choice(std::string_view name, const std::vector<std::string>& choices) {
    auto value = text(name);
    if (!value) return choices.front();
    if (std::find(choices.begin(), choices.end(), *value) == choices.end()) {
        refuse(name, fmt::format("is not one of {}", fmt::join(choices, ", ")));
    }
    return std::move(*value);
}

std::vector<std::string> Query::choices(
    std::string_view name, const std::vector<std::string>& choices
) {
    std::vector<std::string> items = list(name);
    for (const std::string& item : items) {
        if (std::find(choices.begin(), choices.end(), item) == choices.end()) {
            refuse(name, fmt::format("is not one or several of {}", fmt::join(choices, ", ")));
        }
    }
    return items;
}

std::optional<Duration> Query::duration(std::string_view name, Duration most) {
    const auto value = text(name);
    if (!value) return std::nullopt;
    const auto duration = parse_duration(*value);
    if (!duration || *duration < Duration::zero() || *duration > most) {
        refuse(name, fmt::format("is not a duration of at most {}", format_duration(most)));
    }
    return duration;
}

std::optional<TimePoint> Query::time(std::string_view name) {
    const auto value = text(name);
    if (!value) return std::nullopt;
    const auto time = parse_time(*value);
    if (!time) refuse(name, "is not a time such as 2026-11-22T18:20:00Z");
    return time;
}

std::optional<InstanceId> Query::id(std::string_view name) {
    const auto value = text(name);
    if (!value) return std::nullopt;
    const auto id = InstanceId::parse(*value);
    if (!id) refuse(name, "is not an instance's id");
    return id;
}

std::string Query::all_but(std::span<const std::string_view> names) const {
    std::string text;
    for (const auto& [name, parameter] : parameters_) {
        if (std::find(names.begin(), names.end(), name) != names.end()) continue;
        // The length tells where a value ends, whatever is in it.
        text += fmt::format("{}={}:{}\n", name, parameter.value.size(), parameter.value);
    }
    return text;
}

void Query::check_all_used() const {
    for (const auto& [name, parameter] : parameters_) {
        if (!parameter.is_used) refuse(name, "is not known here");
    }
}

}  // namespace ebb::server
