#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "support/json_schema.h"
#include "support/json_schema_compiled.h"

namespace ebb {

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

/// One keyword of a schema, and the value that it judges.
struct SchemaCheck {
    const Json& schema;
    const Json& argument;
    const Json& value;
    const Place& at;
};

/// One validation of one value. Each keyword has a function of its name: keywords of any value,
/// numbers and strings in json_schema_scalars.cpp, of arrays and objects in
/// json_schema_containers.cpp, and those that combine schemas in json_schema_combined.cpp.
class SchemaRun {
 public:
    explicit SchemaRun(const CompiledSchema& compiled) : compiled_(compiled) {}

    std::vector<std::string> violations(const Json& value);

 private:
    using Method = bool (SchemaRun::*)(const SchemaCheck&);

    void spend(std::size_t steps);

    bool is_full() const { return is_quiet_ || found_.size() >= JsonSchema::kViolationsMax; }

    bool violated(const Place& at, std::string_view message);

    /// As fits, but what is wrong is not noted.
    bool would_fit(const Json& schema, const Json& value, const Place& at);

    bool fits(const Json& from, const Json& value, const Place& at);

    static Method method_of(std::string_view keyword);

    bool type(const SchemaCheck& check);

    bool are_equal(const Json& left, const Json& right);

    bool constant(const SchemaCheck& check);

    bool enumeration(const SchemaCheck& check);

    bool bounded(const SchemaCheck& check, bool is_right, std::string_view bound);

    bool maximum(const SchemaCheck& c);

    bool minimum(const SchemaCheck& c);

    bool exclusive_maximum(const SchemaCheck& c);

    bool exclusive_minimum(const SchemaCheck& c);

    bool multiple_of(const SchemaCheck& c);

    bool counted(const SchemaCheck& check, std::size_t count, bool is_max, std::string_view what);

    bool length(const SchemaCheck& check, bool is_max);

    bool max_length(const SchemaCheck& check) { return length(check, true); }

    bool min_length(const SchemaCheck& check) { return length(check, false); }

    bool is_found(std::string_view pattern, std::string_view text);

    bool pattern(const SchemaCheck& check);

    bool format(const SchemaCheck& check);

    bool max_items(const SchemaCheck& check);

    bool min_items(const SchemaCheck& check);

    bool each_item(const Json& schema, const SchemaCheck& check, std::size_t from);

    bool items(const SchemaCheck& check);

    bool additional_items(const SchemaCheck& check);

    bool contains(const SchemaCheck& check);

    /// Equal values, and only those, have the same text.
    void append_canonical(std::string& text, const Json& value);

    bool unique_items(const SchemaCheck& check);

    bool max_properties(const SchemaCheck& check);

    bool min_properties(const SchemaCheck& check);

    bool required(const SchemaCheck& check);

    bool properties(const SchemaCheck& check);

    bool pattern_properties(const SchemaCheck& check);

    bool is_declared(const Json& schema, const std::string& key);

    bool additional_properties(const SchemaCheck& check);

    bool undeclared(const Json& schema, const std::string& key, const Place& at);

    bool property_names(const SchemaCheck& check);

    bool dependencies(const SchemaCheck& check);

    bool all_of(const SchemaCheck& check);

    bool any_of(const SchemaCheck& check);

    bool one_of(const SchemaCheck& check);

    /// Shows the alternative that comes nearest: the one whose first violation lies deepest.
    bool fits_none(const SchemaCheck& check, std::string_view keyword);

    bool negation(const SchemaCheck& check);

    bool condition(const SchemaCheck& check);

    const CompiledSchema& compiled_;
    std::vector<std::string> found_;
    std::size_t steps_ = 0;
    int depth_ = 0;
    bool is_quiet_ = false;
};

}  // namespace ebb
