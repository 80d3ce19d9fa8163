#include "core/model/words.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/closest.h"
#include "support/json.h"

namespace ebb::model {

namespace {

constexpr std::size_t kListedMax = 12;
constexpr std::size_t kQuotedBytesMax = 80;

/// What other engines and languages call it. The first that is known at the place counts.
constexpr std::array<std::pair<std::string_view, std::string_view>, 57> kSynonyms{{
    {"action", "step"},
    {"action", "do"},
    {"activity", "step"},
    {"approval", "decision"},
    {"array", "json"},
    {"async", "parallel"},
    {"attributes", "rules"},
    {"bigint", "integer"},
    {"call", "step"},
    {"call", "do"},
    {"choice", "switch"},
    {"cmd", "exec"},
    {"columns", "attributes"},
    {"command", "exec"},
    {"condition", "when"},
    {"datetime", "timestamp"},
    {"decimal", "numeric"},
    {"delay", "after"},
    {"end", "final"},
    {"event", "signal"},
    {"fields", "attributes"},
    {"final", "rules"},
    {"float", "double"},
    {"fork", "parallel"},
    {"handler", "do"},
    {"if", "condition"},
    {"if", "when"},
    {"jsonb", "json"},
    {"long", "integer"},
    {"money", "numeric"},
    {"name", "workflow"},
    {"number", "numeric"},
    {"object", "json"},
    {"retries", "max_retries"},
    {"retry", "backoff"},
    {"rollback", "compensate"},
    {"run", "do"},
    {"run", "exec"},
    {"script", "exec"},
    {"shell", "exec"},
    {"sleep", "delay"},
    {"state", "attributes"},
    {"string", "text"},
    {"task", "step"},
    {"timeout", "deadline"},
    {"timestamptz", "timestamp"},
    {"transitions", "triggers"},
    {"triggers", "rules"},
    {"undo", "compensate"},
    {"updates", "writes"},
    {"varchar", "text"},
    {"variables", "attributes"},
    {"wait", "delay"},
    {"wait", "after"},
    {"where", "when"},
    {"worker", "do"},
    {"write", "writes"},
}};

std::string_view synonym(std::string_view text, std::span<const std::string_view> candidates) {
    for (const auto& [other, word] : kSynonyms) {
        if (other != text) continue;
        const auto meant = std::find(candidates.begin(), candidates.end(), word);
        if (meant != candidates.end()) return *meant;
    }
    return {};
}

bool contains(std::span<const std::string_view> candidates, std::string_view word) {
    return std::find(candidates.begin(), candidates.end(), word) != candidates.end();
}

/// In other engines, a step has a condition of its own.
bool is_condition_of_step(std::string_view text, std::span<const std::string_view> candidates) {
    const bool is_condition = text == "when" || text == "if";
    return is_condition && contains(candidates, "step") && contains(candidates, "compensate");
}

/// In other tools, a step itself has what a handler has.
bool is_call(std::string_view text, std::span<const std::string_view> candidates) {
    constexpr std::array<std::string_view, 7> kCalls{
        "exec", "http", "run", "cmd", "command", "script", "shell"
    };
    const bool names_handler =
        contains(candidates, "handler") && contains(candidates, "max_attempts");
    return names_handler && contains(kCalls, text);
}

}  // namespace

std::string_view closest(std::string_view text, std::span<const std::string_view> candidates) {
    const std::string_view meant = synonym(text, candidates);
    return meant.empty() ? ebb::closest(text, candidates) : meant;
}

std::string hint(std::string_view text, std::span<const std::string_view> candidates) {
    if (candidates.empty()) return {};
    if (is_condition_of_step(text, candidates)) {
        return " A step has no condition: put it below one, as in {condition: NAME, when: "
               "EXPRESSION, "
               "then: [STEP]}.";
    }
    if (is_call(text, candidates)) {
        return " Name a handler here, with `handler`; what it calls is below `handlers`, as in "
               "handlers: {NAME: {exec: [PROGRAM]}}.";
    }
    if (const std::string_view meant = closest(text, candidates); !meant.empty()) {
        return fmt::format(" Did you mean \"{}\"?", meant);
    }
    const std::size_t count = std::min(candidates.size(), kListedMax);
    return fmt::format(
        " Known {} {}{}.",
        candidates.size() == 1 ? "is" : "are",
        fmt::join(candidates.first(count), ", "),
        count < candidates.size() ? " and others" : ""
    );
}

std::string in_quotes(std::string_view text) {
    std::string clean = clean_text(text, kQuotedBytesMax);
    std::replace_if(
        clean.begin(),
        clean.end(),
        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; },
        ' '
    );
    return fmt::format("\"{}{}\"", clean, clean.size() < text.size() ? "..." : "");
}

std::string escape_pointer(std::string_view key) {
    std::string escaped;
    for (const char c : key) {
        if (c == '~') {
            escaped += "~0";
        } else if (c == '/') {
            escaped += "~1";
        } else {
            escaped += c;
        }
    }
    return escaped;
}

std::string_view quotes_hint(std::string_view json) {
    const bool is_bare = json.starts_with("${") && json.ends_with('}');
    return is_bare ? " An expression is a JSON string: put it into quotes." : "";
}

}  // namespace ebb::model
