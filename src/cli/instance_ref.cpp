#include "cli/instance_ref.h"

#include <algorithm>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "cli/text.h"

namespace ebb::cli {

namespace {

constexpr std::string_view kKeyPrefix = "key:";
constexpr std::size_t kHexDigits = 32;
constexpr int kCandidatesMax = 8;

[[noreturn]] void throw_no_id(std::string_view text) {
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "\"{}\" is no instance: give an id, the first {} or more characters of one, or "
            "key:WORKFLOW/KEY.",
            one_line(text),
            kIdPrefixMin
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

/// The id that begins with `digits` and goes on with `rest` only.
InstanceId id_of(const std::string& digits, char rest) {
    std::string text = digits + std::string(kHexDigits - digits.size(), rest);
    for (const std::size_t dash : {8, 13, 18, 23}) text.insert(dash, 1, '-');
    return *InstanceId::parse(text);
}

InstanceId find_by_key(Engine& engine, std::string_view text) {
    const std::string_view name = text.substr(kKeyPrefix.size());
    const std::size_t slash = name.find('/');
    if (slash == std::string_view::npos || slash == 0 || slash + 1 == name.size())
        throw_no_id(text);
    const std::string_view workflow = name.substr(0, slash);
    const std::string_view key = name.substr(slash + 1);
    if (const auto id = engine.find_key(workflow, key)) return *id;
    throw_not_found(
        fmt::format("of the workflow \"{}\" with the key \"{}\"", one_line(workflow), one_line(key))
    );
}

[[noreturn]] void throw_ambiguous(
    std::string_view text, const std::vector<InstanceSummary>& candidates
) {
    std::string list;
    for (const InstanceSummary& candidate : candidates) {
        list += fmt::format(
            "\n  {}  {} v{}  {}",
            candidate.id.to_string(),
            candidate.workflow,
            candidate.version,
            to_string(candidate.status)
        );
    }
    const bool has_more = static_cast<int>(candidates.size()) >= kCandidatesMax;
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format(
            "Several instances begin with \"{}\"; give more of the id:{}{}",
            text,
            list,
            has_more ? "\n  (and perhaps more)" : ""
        )
    );
}

/// Ids sort by their text, so those with one prefix follow one another.
InstanceId find_by_prefix(Engine& engine, std::string_view text, const std::string& digits) {
    const InstanceId first = id_of(digits, '0');
    const InstanceId last = id_of(digits, 'f');
    auto found = engine.list({.before = last, .limit = kCandidatesMax});
    std::erase_if(found, [&](const InstanceSummary& summary) { return summary.id < first; });
    // `before` leaves out the last one itself.
    if (auto summary = engine.find(last)) found.insert(found.begin(), std::move(*summary));
    if (found.empty()) throw_not_found(fmt::format("whose id begins with {}", text));
    if (found.size() > 1) throw_ambiguous(text, found);
    return found.front().id;
}

}  // namespace

InstanceId resolve_instance(Engine& engine, std::string_view text) {
    if (text.starts_with(kKeyPrefix)) return find_by_key(engine, text);
    const std::string digits = digits_of(text);
    if (digits.size() < kIdPrefixMin || digits.size() > kHexDigits) throw_no_id(text);
    if (digits.size() < kHexDigits) return find_by_prefix(engine, text, digits);
    const InstanceId id = id_of(digits, '0');
    if (!engine.find(id)) throw_not_found(id.to_string());
    return id;
}

}  // namespace ebb::cli
