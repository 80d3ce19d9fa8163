#include "cli/instance_ref.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "cli/text.h"

namespace ebb::cli {

namespace {

constexpr std::string_view kKeyPrefix = "key:";
constexpr std::size_t kHexDigits = 32;
constexpr std::size_t kCandidatesMax = 8;

[[noreturn]] void throw_no_id(std::string_view text) {
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "\"{}\" does not name an instance: give an id, at least {} characters of its beginning "
            "or end, @1 for the newest instance, or key:WORKFLOW/KEY.",
            one_line(text),
            kIdPartMin
        )
    );
}

[[noreturn]] void throw_not_found(std::string_view what) {
    throw Error(ErrorCode::InstanceNotFound, fmt::format("There is no instance {}.", what));
}

/// The hexadecimal digits of `text` without its dashes; empty when it has anything else.
std::string digits_of(std::string_view text) {
    std::string digits;
    for (char c : text) {
        if (c == '-') continue;
        if (c >= 'A' && c <= 'F') c = static_cast<char>(c + 32);
        const bool is_digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
        if (!is_digit) return {};
        digits += c;
    }
    return digits;
}

/// The id that begins with `digits` and continues with `rest` only.
InstanceId id_of(const std::string& digits, char rest) {
    std::string text = digits + std::string(kHexDigits - digits.size(), rest);
    for (const std::size_t dash : {8U, 13U, 18U, 23U}) text.insert(dash, 1, '-');
    return *InstanceId::parse(text);
}

InstanceId find_by_key(Client& engine, std::string_view text) {
    const std::string_view name = text.substr(kKeyPrefix.size());
    const std::size_t slash = name.find('/');
    if (slash == std::string_view::npos || slash == 0 || slash + 1 == name.size())
        throw_no_id(text);
    const std::string_view workflow = name.substr(0, slash);
    const std::string_view key = name.substr(slash + 1);
    if (const auto id = engine.find_key(workflow, key)) return *id;
    if (!engine.has_workflow(std::string(workflow))) {
        throw Error(
            ErrorCode::WorkflowNotFound,
            fmt::format("There is no workflow \"{}\".", one_line(workflow))
        );
    }
    throw_not_found(
        fmt::format("of the workflow \"{}\" with the key \"{}\"", one_line(workflow), one_line(key))
    );
}

[[noreturn]] void throw_ambiguous(
    std::string_view text, const std::vector<InstanceSummary>& candidates
) {
    std::string list;
    for (std::size_t i = 0; i < candidates.size() && i < kCandidatesMax; ++i) {
        const InstanceSummary& candidate = candidates[i];
        list += fmt::format(
            "\n  {}  {} v{}  {}",
            candidate.id.to_string(),
            candidate.workflow,
            candidate.version,
            to_string(candidate.status)
        );
    }
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "\"{}\" fits several instances; give more of the id, or its end:{}{}",
            text,
            list,
            candidates.size() > kCandidatesMax ? "\n  and more" : ""
        )
    );
}

/// Ids sort by their text, so those with one prefix follow one another.
std::vector<InstanceSummary> find_by_beginning(Client& engine, const std::string& digits) {
    const InstanceId first = id_of(digits, '0');
    const InstanceId last = id_of(digits, 'f');
    auto found = engine.list({.before = last, .limit = static_cast<int>(kCandidatesMax) + 1});
    std::erase_if(found, [&](const InstanceSummary& summary) { return summary.id < first; });
    // `before` leaves out the last one itself.
    if (auto summary = engine.find(last)) found.insert(found.begin(), std::move(*summary));
    return found;
}

/// What a search through the newest instances has found.
struct Found {
    std::vector<InstanceSummary> ends{};    ///< whose ids end so
    std::vector<InstanceSummary> others{};  ///< that have it elsewhere, but for the beginning
    bool was_cut = false;                   ///< there are older ones that were not looked at
};

Found search(Client& engine, const std::string& digits) {
    constexpr int kPage = 1'000;
    Found found;
    std::optional<InstanceId> before;
    for (int seen = 0; seen < kPartSearchMax; seen += kPage) {
        auto page = engine.list({.before = before, .limit = kPage});
        for (InstanceSummary& summary : page) {
            const std::string id = digits_of(summary.id.to_string());
            if (id.ends_with(digits)) {
                found.ends.push_back(std::move(summary));
            } else if (const auto at = id.find(digits, 1); at != std::string::npos) {
                found.others.push_back(std::move(summary));
            }
        }
        if (static_cast<int>(page.size()) < kPage) return found;
        before = page.back().id;
    }
    found.was_cut = true;
    return found;
}

InstanceId find_by_part(Client& engine, std::string_view text, const std::string& digits) {
    // The time of an id's making: behind it, no other id ends like this one begins.
    constexpr std::size_t kTimeDigits = 12;
    std::vector<InstanceSummary> found = find_by_beginning(engine, digits);
    Found more;
    if (found.empty() || digits.size() < kTimeDigits) {
        more = search(engine, digits);
        for (InstanceSummary& summary : more.ends) {
            if (!digits_of(summary.id.to_string()).starts_with(digits)) {
                found.push_back(std::move(summary));
            }
        }
        if (found.empty()) found = std::move(more.others);
    }
    if (found.size() > 1) throw_ambiguous(text, found);
    if (!found.empty()) return found.front().id;
    throw_not_found(fmt::format(
        "with \"{}\" in its id{}",
        text,
        more.was_cut ? fmt::format(" among the newest {}", kPartSearchMax) : ""
    ));
}

/// `@3`: the third newest.
InstanceId find_newest(Client& engine, std::string_view text) {
    int number = 0;
    const std::string_view digits = text.substr(1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool is_number = error == std::errc() && end == digits.data() + digits.size();
    if (!is_number || number < 1 || number > kNewestMax) {
        throw Error(
            ErrorCode::InvalidArgument,
            fmt::format(
                "\"{}\" does not name an instance: @1 is the newest one, @2 the one before it, up "
                "to @{}.",
                one_line(text),
                kNewestMax
            )
        );
    }
    const auto newest = engine.list({.limit = number});
    if (static_cast<int>(newest.size()) == number) return newest.back().id;
    throw_not_found(fmt::format("{}: the database has {}", text, newest.size()));
}

}  // namespace

bool may_name_instance(std::string_view text) {
    if (text.starts_with(kKeyPrefix) || text.starts_with('@')) return true;
    const std::size_t digits = digits_of(text).size();
    return digits >= kIdPartMin && digits <= kHexDigits;
}

InstanceId resolve_instance(Client& engine, std::string_view text) {
    if (text.starts_with(kKeyPrefix)) return find_by_key(engine, text);
    if (text.starts_with('@')) return find_newest(engine, text);
    const std::string digits = digits_of(text);
    if (digits.size() < kIdPartMin || digits.size() > kHexDigits) throw_no_id(text);
    if (digits.size() < kHexDigits) return find_by_part(engine, text, digits);
    const InstanceId id = id_of(digits, '0');
    if (!engine.find(id)) throw_not_found(id.to_string());
    return id;
}

std::vector<InstanceId> resolve_instances(Client& engine, const std::vector<std::string>& texts) {
    std::vector<InstanceId> ids;
    for (const std::string& text : texts) {
        const InstanceId id = resolve_instance(engine, text);
        if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
    }
    return ids;
}

std::string short_id(const InstanceId& id) {
    const std::string text = id.to_string();
    return text.substr(text.size() - kShortIdLength);
}

}  // namespace ebb::cli
