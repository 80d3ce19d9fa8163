#include <fmt/format.h>

#include <ebb/error.h>

#include "support/json.h"
#include "support/json_schema_compiled.h"

namespace ebb {

namespace {

/// Fills in the defaults of one value.
class Filler {
 public:
    explicit Filler(const CompiledSchema& compiled) : compiled_(compiled) {}

    void fill(const Json& from, Json& value) {
        spend(1);
        const Json& schema = resolved(from);
        if (!schema.is_object()) return;
        if (++depth_ > kSchemaDepthMax) refuse();
        if (const Json* all = find(schema, "allOf")) {
            for (const Json& each : *all) fill(each, value);
        }
        if (value.is_object()) fill_object(schema, value);
        if (value.is_array()) fill_items(schema, value);
        --depth_;
    }

    bool has_filled() const { return has_filled_; }

 private:
    [[noreturn]] static void refuse() {
        throw Error(
            ErrorCode::LimitExceeded,
            fmt::format(
                "filling in the defaults of its schema takes more than {} steps or {} levels",
                kSchemaStepsMax,
                kSchemaDepthMax
            )
        );
    }

    void spend(std::size_t steps) {
        steps_ += steps;
        if (steps_ > kSchemaStepsMax) refuse();
    }

    const Json& resolved(const Json& schema) const {
        const auto reference = compiled_.targets.find(&schema);
        return reference == compiled_.targets.end() ? schema : *reference->second;
    }

    /// Null if the schema does not have the keyword.
    static const Json* find(const Json& schema, const char* keyword) {
        const auto found = schema.find(keyword);
        return found == schema.end() ? nullptr : &*found;
    }

    void fill_object(const Json& schema, Json& value) {
        const Json* properties = find(schema, "properties");
        if (properties != nullptr) {
            for (const auto& [name, inner] : properties->items()) fill_property(name, inner, value);
        }
        const Json* others = find(schema, "additionalProperties");
        if (others == nullptr || !others->is_object()) return;
        for (const auto& [name, inner] : value.items()) {
            const bool is_listed = properties != nullptr && properties->contains(name);
            if (!is_listed && !has_pattern(schema, name)) fill(*others, inner);
        }
    }

    void fill_property(const std::string& name, const Json& schema, Json& object) {
        spend(1);
        auto property = object.find(name);
        if (property == object.end()) {
            const Json& own = resolved(schema);
            const Json* value = own.is_object() ? find(own, "default") : nullptr;
            if (value == nullptr) return;
            // A default may be large, and an array may need it often.
            spend(to_text(*value).size());
            property = object.emplace(name, *value).first;
            has_filled_ = true;
        }
        fill(schema, *property);
    }

    bool has_pattern(const Json& schema, const std::string& name) {
        const Json* patterns = find(schema, "patternProperties");
        if (patterns == nullptr) return false;
        for (const auto& [pattern, inner] : patterns->items()) {
            spend(name.size() + 1);
            if (compiled_.patterns.find(pattern)->second.is_found_in(name)) return true;
        }
        return false;
    }

    void fill_items(const Json& schema, Json& value) {
        const Json* items = find(schema, "items");
        if (items == nullptr) return;
        for (std::size_t i = 0; i < value.size(); ++i) {
            if (!items->is_array()) {
                fill(*items, value[i]);
            } else if (i < items->size()) {
                fill((*items)[i], value[i]);
            }
        }
    }

    const CompiledSchema& compiled_;
    std::size_t steps_ = 0;
    int depth_ = 0;
    bool has_filled_ = false;
};

}  // namespace

bool fill_defaults(const CompiledSchema& compiled, Json& value) {
    if (!compiled.has_defaults) return false;
    Filler filler(compiled);
    filler.fill(compiled.schema, value);
    return filler.has_filled();
}

}  // namespace ebb
