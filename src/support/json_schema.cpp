#include "support/json_schema.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "support/closest.h"
#include "support/json.h"
#include "support/json_schema_compiled.h"

namespace ebb {

namespace {

/// The value takes more than the budget allows.
struct BudgetExhausted {};

/// Where a value is: a list through the frames of the validation.
struct Place {
    const Place* outer = nullptr;
    std::string_view key{};
    std::size_t index = 0;

    Json::json_pointer pointer() const {
        if (outer == nullptr) return Json::json_pointer();
        return key.data() == nullptr ? outer->pointer() / index
                                     : outer->pointer() / std::string(key);
    }
};

long double number(const Json& value) {
    if (value.is_number_unsigned()) return static_cast<long double>(value.get<std::uint64_t>());
    if (value.is_number_integer()) return static_cast<long double>(value.get<std::int64_t>());
    return static_cast<long double>(value.get<double>());
}

bool is_integer(const Json& value) {
    if (value.is_number_integer()) return true;
    if (!value.is_number_float()) return false;
    const auto float_value = value.get<double>();
    return std::isfinite(float_value) && std::trunc(float_value) == float_value;
}

/// The same text for 1 and 1.0.
std::string canonical_number(const Json& value) {
    constexpr double kExactMax = 9e18;
    const bool is_whole_float =
        value.is_number_float() && is_integer(value) && std::abs(value.get<double>()) < kExactMax;
    return is_whole_float ? std::to_string(static_cast<std::int64_t>(value.get<double>()))
                          : to_text(value);
}

std::string_view type_of(const Json& value) {
    if (value.is_null()) return "null";
    if (value.is_boolean()) return "boolean";
    if (value.is_number()) return is_integer(value) ? "integer" : "number";
    if (value.is_string()) return "string";
    return value.is_array() ? "array" : "object";
}

std::string with_article(std::string_view type) {
    if (type == "null") return "null";
    const bool is_vowel = type == "array" || type == "integer" || type == "object";
    return fmt::format("{} {}", is_vowel ? "an" : "a", type);
}

/// The value, if it is short enough to be shown as a whole; else its type.
std::string shown(const Json& value) {
    constexpr std::size_t kShownBytesMax = 60;
    if (!value.is_structured()) {
        if (std::string text = to_text(value); text.size() <= kShownBytesMax) return text;
    } else if (value.empty()) {
        return to_text(value);
    }
    return with_article(type_of(value));
}

std::size_t characters(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    }));
}

struct Check {
    const Json& schema;
    const Json& argument;
    const Json& value;
    const Place& at;
};

/// One validation of one value.
class Run {
 public:
    explicit Run(const CompiledSchema& compiled) : compiled_(compiled) {}

    std::vector<std::string> violations(const Json& value) {
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

 private:
    using Method = bool (Run::*)(const Check&);

    void spend(std::size_t steps) {
        steps_ += steps;
        if (steps_ > kSchemaStepsMax) throw BudgetExhausted{};
    }

    bool is_full() const { return is_quiet_ || found_.size() >= JsonSchema::kViolationsMax; }

    bool violated(const Place& at, std::string_view message) {
        if (!is_full()) {
            const std::string pointer = at.pointer().to_string();
            found_.push_back(fmt::format("{}: {}", pointer.empty() ? "/" : pointer, message));
        }
        return false;
    }

    /// As fits, but what is wrong is not noted.
    bool would_fit(const Json& schema, const Json& value, const Place& at) {
        const bool was_quiet = std::exchange(is_quiet_, true);
        const bool does = fits(schema, value, at);
        is_quiet_ = was_quiet;
        return does;
    }

    bool fits(const Json& from, const Json& value, const Place& at) {
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

    static Method method_of(std::string_view keyword) {
        static constexpr std::array<std::pair<std::string_view, Method>, 29> kMethods{{
            {"additionalItems", &Run::additional_items},
            {"additionalProperties", &Run::additional_properties},
            {"allOf", &Run::all_of},
            {"anyOf", &Run::any_of},
            {"const", &Run::constant},
            {"contains", &Run::contains},
            {"dependencies", &Run::dependencies},
            {"enum", &Run::enumeration},
            {"exclusiveMaximum", &Run::exclusive_maximum},
            {"exclusiveMinimum", &Run::exclusive_minimum},
            {"format", &Run::format},
            {"if", &Run::condition},
            {"items", &Run::items},
            {"maxItems", &Run::max_items},
            {"maxLength", &Run::max_length},
            {"maxProperties", &Run::max_properties},
            {"maximum", &Run::maximum},
            {"minItems", &Run::min_items},
            {"minLength", &Run::min_length},
            {"minProperties", &Run::min_properties},
            {"minimum", &Run::minimum},
            {"multipleOf", &Run::multiple_of},
            {"not", &Run::negation},
            {"oneOf", &Run::one_of},
            {"pattern", &Run::pattern},
            {"patternProperties", &Run::pattern_properties},
            {"properties", &Run::properties},
            {"propertyNames", &Run::property_names},
            {"required", &Run::required},
        }};
        if (keyword == "type") return &Run::type;
        if (keyword == "uniqueItems") return &Run::unique_items;
        const auto* found = std::lower_bound(
            kMethods.begin(),
            kMethods.end(),
            keyword,
            [](const auto& each, std::string_view name) { return each.first < name; }
        );
        return found != kMethods.end() && found->first == keyword ? found->second : nullptr;
    }

    // --- any value

    static bool is_of(const Json& value, std::string_view type) {
        if (type == "number") return value.is_number();
        return type == type_of(value);
    }

    bool type(const Check& check) {
        std::vector<std::string> names;
        const auto is_one = [&](const Json& each) {
            const auto& name = each.get_ref<const std::string&>();
            if (!is_full()) names.push_back(with_article(name));
            return is_of(check.value, name);
        };
        const Json& types = check.argument;
        const bool does_fit =
            types.is_array() ? std::any_of(types.begin(), types.end(), is_one) : is_one(types);
        if (does_fit) return true;
        if (is_full()) return false;
        return violated(
            check.at,
            fmt::format("expected {}, got {}", fmt::join(names, " or "), shown(check.value))
        );
    }

    bool are_equal(const Json& left, const Json& right) {
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

    bool constant(const Check& check) {
        if (are_equal(check.argument, check.value)) return true;
        return violated(
            check.at, fmt::format("expected {}, got {}", shown(check.argument), shown(check.value))
        );
    }

    bool enumeration(const Check& check) {
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

    // --- numbers

    bool bounded(const Check& check, bool is_right, std::string_view bound) {
        if (!check.value.is_number() || is_right) return true;
        return violated(
            check.at,
            fmt::format(
                "expected {} {}, got {}", bound, to_text(check.argument), to_text(check.value)
            )
        );
    }

    bool maximum(const Check& c) {
        return !c.value.is_number() ||
               bounded(c, number(c.value) <= number(c.argument), "a number of at most");
    }

    bool minimum(const Check& c) {
        return !c.value.is_number() ||
               bounded(c, number(c.value) >= number(c.argument), "a number of at least");
    }

    bool exclusive_maximum(const Check& c) {
        return !c.value.is_number() ||
               bounded(c, number(c.value) < number(c.argument), "a number below");
    }

    bool exclusive_minimum(const Check& c) {
        return !c.value.is_number() ||
               bounded(c, number(c.value) > number(c.argument), "a number above");
    }

    static bool is_multiple(const Json& value, const Json& of) {
        if (value.is_number_integer() && of.is_number_integer()) {
            return std::fmod(number(value), number(of)) == 0;
        }
        const double quotient = value.get<double>() / of.get<double>();
        if (!std::isfinite(quotient)) return false;
        constexpr double kTolerance = 1e-12;
        const double error = std::abs(quotient - std::nearbyint(quotient));
        return error <= kTolerance * std::max(1.0, std::abs(quotient));
    }

    bool multiple_of(const Check& c) {
        return !c.value.is_number() ||
               bounded(c, is_multiple(c.value, c.argument), "a multiple of");
    }

    // --- strings

    bool counted(const Check& check, std::size_t count, bool is_max, std::string_view what) {
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

    bool length(const Check& check, bool is_max) {
        if (!check.value.is_string()) return true;
        const auto& text = check.value.get_ref<const std::string&>();
        spend(text.size() / 16);
        return counted(check, characters(text), is_max, "characters");
    }

    bool max_length(const Check& check) { return length(check, true); }

    bool min_length(const Check& check) { return length(check, false); }

    bool is_found(std::string_view pattern, std::string_view text) {
        spend(text.size() + 1);
        return compiled_.patterns.find(pattern)->second.is_found_in(text);
    }

    bool pattern(const Check& check) {
        if (!check.value.is_string()) return true;
        const auto& wanted = check.argument.get_ref<const std::string&>();
        if (is_found(wanted, check.value.get_ref<const std::string&>())) return true;
        return violated(
            check.at,
            fmt::format("expected a string that matches {}, got {}", wanted, shown(check.value))
        );
    }

    bool format(const Check& check) {
        if (!check.value.is_string()) return true;
        const auto& wanted = check.argument.get_ref<const std::string&>();
        if (has_format(wanted, check.value.get_ref<const std::string&>())) return true;
        return violated(check.at, fmt::format("expected a {}, got {}", wanted, shown(check.value)));
    }

    static bool is_date(std::string_view text) {
        static const Pattern shape("^[0-9]{4}-(0[1-9]|1[012])-(0[1-9]|[12][0-9]|3[01])$");
        if (!shape.is_found_in(text)) return false;
        const auto at = [&](std::size_t from, std::size_t count) {
            return std::stoi(std::string(text.substr(from, count)));
        };
        return std::chrono::year_month_day(
                   std::chrono::year(at(0, 4)),
                   std::chrono::month(static_cast<unsigned>(at(5, 2))),
                   std::chrono::day(static_cast<unsigned>(at(8, 2)))
        )
            .ok();
    }

    static bool is_time(std::string_view text) {
        static const Pattern shape(
            "^([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)(\\.[0-9]+)?"
            "([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
        );
        return shape.is_found_in(text);
    }

    static bool has_format(std::string_view format, std::string_view text) {
        constexpr std::size_t kDate = 10;
        if (format == "date") return is_date(text);
        if (format == "time") return is_time(text);
        if (format != "date-time") return true;
        return text.size() > kDate && (text[kDate] == 'T' || text[kDate] == 't') &&
               is_date(text.substr(0, kDate)) && is_time(text.substr(kDate + 1));
    }

    // --- arrays

    bool max_items(const Check& check) {
        return !check.value.is_array() || counted(check, check.value.size(), true, "items");
    }

    bool min_items(const Check& check) {
        return !check.value.is_array() || counted(check, check.value.size(), false, "items");
    }

    bool each_item(const Json& schema, const Check& check, std::size_t from) {
        bool do_fit = true;
        for (std::size_t i = from; i < check.value.size(); ++i) {
            if (fits(schema, check.value[i], {.outer = &check.at, .index = i})) continue;
            do_fit = false;
            if (is_full()) break;
        }
        return do_fit;
    }

    bool items(const Check& check) {
        if (!check.value.is_array()) return true;
        if (!check.argument.is_array()) return each_item(check.argument, check, 0);
        bool do_fit = true;
        for (std::size_t i = 0; i < std::min(check.argument.size(), check.value.size()); ++i) {
            const Place at{.outer = &check.at, .index = i};
            do_fit = fits(check.argument[i], check.value[i], at) && do_fit;
        }
        return do_fit;
    }

    bool additional_items(const Check& check) {
        const auto listed = check.schema.find("items");
        const bool has_list = listed != check.schema.end() && listed->is_array();
        if (!check.value.is_array() || !has_list) return true;
        return each_item(check.argument, check, listed->size());
    }

    bool contains(const Check& check) {
        if (!check.value.is_array()) return true;
        for (const Json& item : check.value) {
            if (would_fit(check.argument, item, check.at)) return true;
        }
        return violated(check.at, "expected at least one item that fits \"contains\"");
    }

    /// Equal values, and only those, have the same text.
    void append_canonical(std::string& text, const Json& value) {
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

    bool unique_items(const Check& check) {
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

    // --- objects

    bool max_properties(const Check& check) {
        return !check.value.is_object() || counted(check, check.value.size(), true, "properties");
    }

    bool min_properties(const Check& check) {
        return !check.value.is_object() || counted(check, check.value.size(), false, "properties");
    }

    bool required(const Check& check) {
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

    bool properties(const Check& check) {
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

    bool pattern_properties(const Check& check) {
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

    bool is_declared(const Json& schema, const std::string& key) {
        const auto properties = schema.find("properties");
        if (properties != schema.end() && properties->contains(key)) return true;
        const auto patterns = schema.find("patternProperties");
        if (patterns == schema.end()) return false;
        for (const auto& [pattern, inner] : patterns->items()) {
            if (is_found(pattern, key)) return true;
        }
        return false;
    }

    bool additional_properties(const Check& check) {
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

    bool undeclared(const Json& schema, const std::string& key, const Place& at) {
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

    bool property_names(const Check& check) {
        if (!check.value.is_object()) return true;
        bool do_fit = true;
        for (const auto& [key, member] : check.value.items()) {
            do_fit = fits(check.argument, Json(key), {.outer = &check.at, .key = key}) && do_fit;
        }
        return do_fit;
    }

    bool dependencies(const Check& check) {
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

    // --- schemas of schemas

    bool all_of(const Check& check) {
        bool do_fit = true;
        for (const Json& schema : check.argument) {
            do_fit = fits(schema, check.value, check.at) && do_fit;
            if (!do_fit && is_full()) break;
        }
        return do_fit;
    }

    bool any_of(const Check& check) {
        for (const Json& schema : check.argument) {
            if (would_fit(schema, check.value, check.at)) return true;
        }
        return fits_none(check, "anyOf");
    }

    bool one_of(const Check& check) {
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

    /// Shows the alternative that comes nearest: the one whose first violation lies deepest.
    bool fits_none(const Check& check, std::string_view keyword) {
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
                "fits none of the {} alternatives of {} ({})",
                check.argument.size(),
                keyword,
                nearest
            )
        );
    }

    bool negation(const Check& check) {
        if (!would_fit(check.argument, check.value, check.at)) return true;
        return violated(check.at, "fits what \"not\" excludes");
    }

    bool condition(const Check& check) {
        const bool is_met = would_fit(check.argument, check.value, check.at);
        const auto branch = check.schema.find(is_met ? "then" : "else");
        return branch == check.schema.end() || fits(*branch, check.value, check.at);
    }

    const CompiledSchema& compiled_;
    std::vector<std::string> found_;
    std::size_t steps_ = 0;
    int depth_ = 0;
    bool is_quiet_ = false;
};

}  // namespace

struct JsonSchema::Compiled {
    std::unique_ptr<const CompiledSchema> schema;
};

JsonSchema::JsonSchema(const Json& schema)
    : compiled_(std::make_unique<const Compiled>(Compiled{compile_schema(schema)})) {}

JsonSchema::~JsonSchema() = default;
JsonSchema::JsonSchema(JsonSchema&&) noexcept = default;
JsonSchema& JsonSchema::operator=(JsonSchema&&) noexcept = default;

std::vector<std::string> JsonSchema::violations(const Json& value) const {
    return Run(*compiled_->schema).violations(value);
}

bool JsonSchema::fill_defaults(Json& value) const {
    return ebb::fill_defaults(*compiled_->schema, value);
}

}  // namespace ebb
