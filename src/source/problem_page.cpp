#include "source/problem_page.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace ebb::source {

namespace {

constexpr std::array<std::string_view, 5> kLints = {
    "missing_handler",
    "never_times_out",
    "retries_exceed_deadline",
    "shadowed_case",
    "unbounded_wait"
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

std::string page_address(std::string_view docs, std::string page) {
    if (docs.empty()) return {};
    constexpr std::string_view kEnding = ".md";
    const std::size_t ending = page.find(kEnding);
    const bool is_site = docs.starts_with("http") && ending != std::string::npos;
    if (is_site) page.replace(ending, kEnding.size(), ".html");
    return fmt::format("{}{}{}", docs, docs.ends_with('/') ? "" : "/", page);
}

std::string problem_address(std::string_view docs, std::string_view code) {
    return page_address(docs, problem_page(code));
}

}  // namespace ebb::source
