#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/json.h"
#include "support/json_schema_run.h"
#include "support/json_schema_values.h"

namespace ebb {

bool SchemaRun::type(const SchemaCheck& check) {
    std::vector<std::string> names;
    const auto is_one = [&](const Json& each) {
        const auto& name = each.get_ref<const std::string&>();
        if (!is_full()) names.push_back(with_article(name));
        return is_of_type(check.value, name);
    };
    const Json& types = check.argument;
    const bool does_fit =
        types.is_array() ? std::any_of(types.begin(), types.end(), is_one) : is_one(types);
    if (does_fit) return true;
    if (is_full()) return false;
    return violated(
        check.at, fmt::format("expected {}, got {}", fmt::join(names, " or "), shown(check.value))
    );
}

bool SchemaRun::are_equal(const Json& left, const Json& right) {
    spend(1);
    if (left.is_array() && right.is_array()) {
        return std::equal(
            left.begin(),
            left.end(),
            right.begin(),
            right.end(),
            [this](const Json& a, const Json& b) { return are_equal(a, b); }
        );
    }
    if (left.is_object() && right.is_object()) {
        if (left.size() != right.size()) return false;
        for (const auto& [key, value] : left.items()) {
            const auto other = right.find(key);
            if (other == right.end() || !are_equal(value, *other)) return false;
        }
        return true;
    }
    if (left.is_number() && right.is_number()) return number(left) == number(right);
    return left == right;
}

bool SchemaRun::constant(const SchemaCheck& check) {
    if (are_equal(check.argument, check.value)) return true;
    return violated(
        check.at, fmt::format("expected {}, got {}", shown(check.argument), shown(check.value))
    );
}

bool SchemaRun::enumeration(const SchemaCheck& check) {
    for (const Json& allowed : check.argument) {
        if (are_equal(allowed, check.value)) return true;
    }
    if (is_full()) return false;
    constexpr std::size_t kListedMax = 12;
    std::vector<std::string> allowed;
    for (const Json& each : check.argument) {
        if (allowed.size() == kListedMax) {
            allowed.emplace_back("...");
            break;
        }
        allowed.push_back(shown(each));
    }
    return violated(
        check.at,
        fmt::format("expected one of {}, got {}", fmt::join(allowed, ", "), shown(check.value))
    );
}

bool SchemaRun::bounded(const SchemaCheck& check, bool is_right, std::string_view bound) {
    if (!check.value.is_number() || is_right) return true;
    return violated(
        check.at,
        fmt::format("expected {} {}, got {}", bound, to_text(check.argument), to_text(check.value))
    );
}

bool SchemaRun::maximum(const SchemaCheck& c) {
    return !c.value.is_number() ||
           bounded(c, number(c.value) <= number(c.argument), "a number of at most");
}

bool SchemaRun::minimum(const SchemaCheck& c) {
    return !c.value.is_number() ||
           bounded(c, number(c.value) >= number(c.argument), "a number of at least");
}

bool SchemaRun::exclusive_maximum(const SchemaCheck& c) {
    return !c.value.is_number() ||
           bounded(c, number(c.value) < number(c.argument), "a number below");
}

bool SchemaRun::exclusive_minimum(const SchemaCheck& c) {
    return !c.value.is_number() ||
           bounded(c, number(c.value) > number(c.argument), "a number above");
}

bool SchemaRun::multiple_of(const SchemaCheck& c) {
    return !c.value.is_number() || bounded(c, is_multiple(c.value, c.argument), "a multiple of");
}

bool SchemaRun::counted(
    const SchemaCheck& check, std::size_t count, bool is_max, std::string_view what
) {
    const long double limit = number(check.argument);
    const auto exact = static_cast<long double>(count);
    if (is_max ? exact <= limit : exact >= limit) return true;
    return violated(
        check.at,
        fmt::format(
            "expected at {} {} {}, got {}",
            is_max ? "most" : "least",
            to_text(check.argument),
            what,
            count
        )
    );
}

bool SchemaRun::length(const SchemaCheck& check, bool is_max) {
    if (!check.value.is_string()) return true;
    const auto& text = check.value.get_ref<const std::string&>();
    spend(text.size() / 16);
    return counted(check, characters(text), is_max, "characters");
}

bool SchemaRun::is_found(std::string_view pattern, std::string_view text) {
    spend(text.size() + 1);
    return compiled_.patterns.find(pattern)->second.is_found_in(text);
}

bool SchemaRun::pattern(const SchemaCheck& check) {
    if (!check.value.is_string()) return true;
    const auto& wanted = check.argument.get_ref<const std::string&>();
    if (is_found(wanted, check.value.get_ref<const std::string&>())) return true;
    return violated(
        check.at,
        fmt::format("expected a string that matches {}, got {}", wanted, shown(check.value))
    );
}

bool SchemaRun::format(const SchemaCheck& check) {
    if (!check.value.is_string()) return true;
    const auto& wanted = check.argument.get_ref<const std::string&>();
    if (has_format(wanted, check.value.get_ref<const std::string&>())) return true;
    return violated(check.at, fmt::format("expected a {}, got {}", wanted, shown(check.value)));
}

}  // namespace ebb
