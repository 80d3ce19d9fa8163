#include "support/json_schema_run.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "support/json_schema_values.h"

namespace ebb {

namespace {

/// The value takes more than the budget allows.
struct BudgetExhausted {};

}  // namespace

std::vector<std::string> SchemaRun::violations(const Json& value) {
    try {
        fits(compiled_.schema, value, {});
    } catch (const BudgetExhausted&) {
        found_.clear();
        found_.push_back(fmt::format(
            "/: checking it against its schema takes more than {} steps or {} levels",
            kSchemaStepsMax,
            kSchemaDepthMax
        ));
    }
    return std::move(found_);
}

void SchemaRun::spend(std::size_t steps) {
    steps_ += steps;
    if (steps_ > kSchemaStepsMax) throw BudgetExhausted{};
}

bool SchemaRun::violated(const Place& at, std::string_view message) {
    if (!is_full()) {
        const std::string pointer = at.pointer().to_string();
        found_.push_back(fmt::format("{}: {}", pointer.empty() ? "/" : pointer, message));
    }
    return false;
}

bool SchemaRun::would_fit(const Json& schema, const Json& value, const Place& at) {
    const bool was_quiet = std::exchange(is_quiet_, true);
    const bool does = fits(schema, value, at);
    is_quiet_ = was_quiet;
    return does;
}

bool SchemaRun::fits(const Json& from, const Json& value, const Place& at) {
    spend(1);
    const auto reference = compiled_.targets.find(&from);
    const Json& schema = reference == compiled_.targets.end() ? from : *reference->second;
    if (schema.is_boolean()) {
        return schema.get<bool>() || violated(at, "nothing is allowed here");
    }
    if (++depth_ > kSchemaDepthMax) throw BudgetExhausted{};
    bool does_fit = true;
    for (const auto& [keyword, argument] : schema.items()) {
        const Method method = method_of(keyword);
        if (method == nullptr) continue;
        spend(1);
        if ((this->*method)({schema, argument, value, at})) continue;
        does_fit = false;
        if (is_full()) break;
    }
    --depth_;
    return does_fit;
}

SchemaRun::Method SchemaRun::method_of(std::string_view keyword) {
    static constexpr std::array<std::pair<std::string_view, Method>, 29> kMethods{{
        {"additionalItems", &SchemaRun::additional_items},
        {"additionalProperties", &SchemaRun::additional_properties},
        {"allOf", &SchemaRun::all_of},
        {"anyOf", &SchemaRun::any_of},
        {"const", &SchemaRun::constant},
        {"contains", &SchemaRun::contains},
        {"dependencies", &SchemaRun::dependencies},
        {"enum", &SchemaRun::enumeration},
        {"exclusiveMaximum", &SchemaRun::exclusive_maximum},
        {"exclusiveMinimum", &SchemaRun::exclusive_minimum},
        {"format", &SchemaRun::format},
        {"if", &SchemaRun::condition},
        {"items", &SchemaRun::items},
        {"maxItems", &SchemaRun::max_items},
        {"maxLength", &SchemaRun::max_length},
        {"maxProperties", &SchemaRun::max_properties},
        {"maximum", &SchemaRun::maximum},
        {"minItems", &SchemaRun::min_items},
        {"minLength", &SchemaRun::min_length},
        {"minProperties", &SchemaRun::min_properties},
        {"minimum", &SchemaRun::minimum},
        {"multipleOf", &SchemaRun::multiple_of},
        {"not", &SchemaRun::negation},
        {"oneOf", &SchemaRun::one_of},
        {"pattern", &SchemaRun::pattern},
        {"patternProperties", &SchemaRun::pattern_properties},
        {"properties", &SchemaRun::properties},
        {"propertyNames", &SchemaRun::property_names},
        {"required", &SchemaRun::required},
    }};
    if (keyword == "type") return &SchemaRun::type;
    if (keyword == "uniqueItems") return &SchemaRun::unique_items;
    const auto* found = std::lower_bound(
        kMethods.begin(),
        kMethods.end(),
        keyword,
        [](const auto& each, std::string_view name) { return each.first < name; }
    );
    return found != kMethods.end() && found->first == keyword ? found->second : nullptr;
}

}  // namespace ebb
