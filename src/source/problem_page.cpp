#include "source/problem_page.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace ebb::source {

namespace {

constexpr std::array<std::string_view, 4> kLints = {
    "missing_handler", "retries_exceed_deadline", "shadowed_case", "unbounded_wait"
};

constexpr std::array<std::string_view, 8> kOfRules = {
    "dead_final",
    "dead_rule",
    "livelock_final",
    "never_enabled",
    "shadowed",
    "unreachable_final",
    "unread_attribute",
    "unwritten_attribute"
};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::string problem_page(std::string_view code) {
    if (is_one_of(kLints, code)) return "how-to/editors.md#warnings";
    if (is_one_of(kOfRules, code)) {
        return "reference/rules.md#check-rules-before-you-deploy-them";
    }
    return fmt::format("reference/definition.md#{}", code);
}

std::string problem_address(std::string_view docs, std::string_view code) {
    if (docs.empty()) return {};
    std::string page = problem_page(code);
    if (docs.starts_with("http")) page.replace(page.find(".md#"), 3, ".html");
    return fmt::format("{}{}{}", docs, docs.ends_with('/') ? "" : "/", page);
}

}  // namespace ebb::source
