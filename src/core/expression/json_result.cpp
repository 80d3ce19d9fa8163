#include "core/expression/json_result.h"

#include <cmath>

#include "core/expression/functions.h"
#include "core/expression/source.h"

namespace ebb::expression {

namespace {

/// Builds a result while it counts how large its text will be, about.
class Writer {
 public:
    explicit Writer(Context& context) : context_(context) {}

    Json write(const Value& value, int depth) {
        context_.check_value_depth(depth);
        switch (value.kind) {
            case Kind::Null:
                return counted(4, nullptr);
            case Kind::Bool:
                return counted(4, value.boolean);
            case Kind::Int:
                return counted(1, value.integer);
            case Kind::Uint:
                return counted(1, value.natural);
            case Kind::Double:
                return number(value);
            case Kind::String:
                return counted(value.extra + 2, std::string(value.string()));
            case Kind::Timestamp:
            case Kind::Duration:
                return write(text_of(value), depth);
            case Kind::JsonList:
            case Kind::JsonMap:
                count(*value.json, depth);
                return *value.json;
            case Kind::List:
                return list(value, depth);
            case Kind::Map:
                return map(value, depth);
            case Kind::Failure:
                break;
        }
        context_.throw_failure(*value.failure);
    }

 private:
    Json counted(std::size_t bytes, Json json) {
        add(bytes);
        return json;
    }

    void add(std::size_t bytes) {
        bytes_ += bytes;
        context_.check_bytes(bytes_);
    }

    Json number(const Value& value) {
        if (std::isfinite(value.number)) return counted(3, value.number);
        const Value failure =
            context_.fail("The result is {}, which JSON does not have.", text_of(value).string());
        context_.throw_failure(*failure.failure);
    }

    Value text_of(const Value& value) { return to_string(context_, Arguments(&value, 1)); }

    Json list(const Value& value, int depth) {
        add(2);
        Json array = Json::array();
        for (const Value& item : value.list->items) {
            add(1);
            array.push_back(write(item, depth + 1));
        }
        return array;
    }

    Json map(const Value& value, int depth) {
        add(2);
        Json object = Json::object();
        for (const auto& [key, item] : value.map->entries) {
            const std::string_view name = text_of(key).string();
            add(name.size() + 4);
            if (!object.emplace(name, write(item, depth + 1)).second) {
                const Value failure = context_.fail(
                    "Two keys of the resulting map become the same JSON key \"{}\".",
                    shortened(name, 60)
                );
                context_.throw_failure(*failure.failure);
            }
        }
        return object;
    }

    void count(const Json& json, int depth) {
        context_.check_value_depth(depth);
        if (json.is_string()) return add(json.get_ref<const std::string&>().size() + 2);
        if (!json.is_structured()) return add(1);
        add(2);
        if (json.is_array()) {
            for (const Json& item : json) count(item, depth + 1);
            return add(json.size());
        }
        for (const auto& [key, item] : json.items()) {
            add(key.size() + 4);
            count(item, depth + 1);
        }
    }

    Context& context_;
    std::size_t bytes_ = 0;
};

}  // namespace

Json to_json(Context& context, const Value& value) {
    if (value.is(Kind::JsonList) || value.is(Kind::JsonMap)) return *value.json;
    if (value.is(Kind::String)) return std::string(value.string());
    return Writer(context).write(value, 0);
}

}  // namespace ebb::expression
