#include <algorithm>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/closest.h"
#include "support/json.h"
#include "support/json_schema_run.h"
#include "support/json_schema_values.h"

namespace ebb {

bool SchemaRun::max_items(const SchemaCheck& check) {
    return !check.value.is_array() || counted(check, check.value.size(), true, "items");
}

bool SchemaRun::min_items(const SchemaCheck& check) {
    return !check.value.is_array() || counted(check, check.value.size(), false, "items");
}

bool SchemaRun::each_item(const Json& schema, const SchemaCheck& check, std::size_t from) {
    bool do_fit = true;
    for (std::size_t i = from; i < check.value.size(); ++i) {
        if (fits(schema, check.value[i], {.outer = &check.at, .index = i})) continue;
        do_fit = false;
        if (is_full()) break;
    }
    return do_fit;
}

bool SchemaRun::items(const SchemaCheck& check) {
    if (!check.value.is_array()) return true;
    if (!check.argument.is_array()) return each_item(check.argument, check, 0);
    bool do_fit = true;
    for (std::size_t i = 0; i < std::min(check.argument.size(), check.value.size()); ++i) {
        const Place at{.outer = &check.at, .index = i};
        do_fit = fits(check.argument[i], check.value[i], at) && do_fit;
    }
    return do_fit;
}

bool SchemaRun::additional_items(const SchemaCheck& check) {
    const auto listed = check.schema.find("items");
    const bool has_list = listed != check.schema.end() && listed->is_array();
    if (!check.value.is_array() || !has_list) return true;
    return each_item(check.argument, check, listed->size());
}

bool SchemaRun::contains(const SchemaCheck& check) {
    if (!check.value.is_array()) return true;
    for (const Json& item : check.value) {
        if (would_fit(check.argument, item, check.at)) return true;
    }
    return violated(check.at, "expected at least one item that fits \"contains\"");
}

void SchemaRun::append_canonical(std::string& text, const Json& value) {
    spend(1);
    if (value.is_array()) {
        text += '[';
        for (const Json& item : value) {
            append_canonical(text, item);
            text += ',';
        }
        text += ']';
    } else if (value.is_object()) {
        text += '{';
        for (const auto& [key, member] : value.items()) {
            append_json_string(text, key);
            append_canonical(text, member);
            text += ',';
        }
        text += '}';
    } else if (value.is_number()) {
        text += canonical_number(value);
    } else if (value.is_string()) {
        append_json_string(text, value.get_ref<const std::string&>());
    } else {
        text += to_text(value);
    }
}

bool SchemaRun::unique_items(const SchemaCheck& check) {
    if (!check.value.is_array() || !check.argument.get<bool>()) return true;
    std::unordered_set<std::string> seen;
    for (std::size_t i = 0; i < check.value.size(); ++i) {
        std::string text;
        append_canonical(text, check.value[i]);
        if (seen.insert(std::move(text)).second) continue;
        return violated(
            {.outer = &check.at, .index = i},
            fmt::format("expected unique items, got {} again", shown(check.value[i]))
        );
    }
    return true;
}

bool SchemaRun::max_properties(const SchemaCheck& check) {
    return !check.value.is_object() || counted(check, check.value.size(), true, "properties");
}

bool SchemaRun::min_properties(const SchemaCheck& check) {
    return !check.value.is_object() || counted(check, check.value.size(), false, "properties");
}

bool SchemaRun::required(const SchemaCheck& check) {
    if (!check.value.is_object()) return true;
    bool are_there = true;
    for (const Json& name : check.argument) {
        spend(1);
        const auto& text = name.get_ref<const std::string&>();
        if (check.value.contains(text)) continue;
        are_there = violated(check.at, fmt::format("the property \"{}\" is missing", text));
    }
    return are_there;
}

bool SchemaRun::properties(const SchemaCheck& check) {
    if (!check.value.is_object()) return true;
    bool do_fit = true;
    for (const auto& [key, member] : check.value.items()) {
        spend(1);
        const auto schema = check.argument.find(key);
        if (schema == check.argument.end()) continue;
        do_fit = fits(*schema, member, {.outer = &check.at, .key = key}) && do_fit;
    }
    return do_fit;
}

bool SchemaRun::pattern_properties(const SchemaCheck& check) {
    if (!check.value.is_object()) return true;
    bool do_fit = true;
    for (const auto& [pattern, schema] : check.argument.items()) {
        for (const auto& [key, member] : check.value.items()) {
            if (!is_found(pattern, key)) continue;
            do_fit = fits(schema, member, {.outer = &check.at, .key = key}) && do_fit;
        }
    }
    return do_fit;
}

bool SchemaRun::is_declared(const Json& schema, const std::string& key) {
    const auto properties = schema.find("properties");
    if (properties != schema.end() && properties->contains(key)) return true;
    const auto patterns = schema.find("patternProperties");
    if (patterns == schema.end()) return false;
    for (const auto& [pattern, inner] : patterns->items()) {
        if (is_found(pattern, key)) return true;
    }
    return false;
}

bool SchemaRun::additional_properties(const SchemaCheck& check) {
    if (!check.value.is_object()) return true;
    bool do_fit = true;
    for (const auto& [key, member] : check.value.items()) {
        spend(1);
        if (is_declared(check.schema, key)) continue;
        const Place at{.outer = &check.at, .key = key};
        const bool does_fit = check.argument == false ? undeclared(check.schema, key, at)
                                                      : fits(check.argument, member, at);
        do_fit = does_fit && do_fit;
    }
    return do_fit;
}

bool SchemaRun::undeclared(const Json& schema, const std::string& key, const Place& at) {
    if (is_full()) return false;
    constexpr std::size_t kListedMax = 12;
    std::vector<std::string_view> known;
    if (const auto properties = schema.find("properties"); properties != schema.end()) {
        for (const auto& [name, inner] : properties->items()) known.push_back(name);
    }
    std::string hint;
    if (const auto meant = closest(key, known); !meant.empty()) {
        hint = fmt::format("; did you mean \"{}\"?", meant);
    } else if (!known.empty() && known.size() <= kListedMax) {
        hint = fmt::format("; allowed: {}", fmt::join(known, ", "));
    }
    return violated(at, "this property is not allowed" + hint);
}

bool SchemaRun::property_names(const SchemaCheck& check) {
    if (!check.value.is_object()) return true;
    bool do_fit = true;
    for (const auto& [key, member] : check.value.items()) {
        do_fit = fits(check.argument, Json(key), {.outer = &check.at, .key = key}) && do_fit;
    }
    return do_fit;
}

bool SchemaRun::dependencies(const SchemaCheck& check) {
    if (!check.value.is_object()) return true;
    bool do_fit = true;
    for (const auto& [key, needed] : check.argument.items()) {
        if (!check.value.contains(key)) continue;
        const bool does_fit = needed.is_array()
                                  ? required({check.schema, needed, check.value, check.at})
                                  : fits(needed, check.value, check.at);
        do_fit = does_fit && do_fit;
    }
    return do_fit;
}

}  // namespace ebb
