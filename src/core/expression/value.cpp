#include "core/expression/value.h"

#include <algorithm>
#include <cmath>

#include "core/expression/compare.h"

namespace ebb::expression {

namespace {

Value of_kind(Kind kind) {
    Value value;
    value.kind = kind;
    value.extra = 0;
    value.integer = 0;
    return value;
}

int key_rank(const Value& key) {
    if (key.is(Kind::Bool)) return 0;
    return key.is_number() ? 1 : 2;
}

/// The integer that a double means as a key; the key itself if it is not a double.
std::optional<Value> whole_key(const Value& key) {
    if (!key.is(Kind::Double)) return key;
    const double number = key.number;
    if (number != std::floor(number)) return std::nullopt;
    if (number >= -0x1p63 && number < 0x1p63) return int_value(static_cast<std::int64_t>(number));
    if (number >= 0 && number < 0x1p64) return uint_value(static_cast<std::uint64_t>(number));
    return std::nullopt;
}

}  // namespace

Value null_value() {
    return of_kind(Kind::Null);
}

Value bool_value(bool boolean) {
    Value value = of_kind(Kind::Bool);
    value.boolean = boolean;
    return value;
}

Value int_value(std::int64_t integer) {
    Value value = of_kind(Kind::Int);
    value.integer = integer;
    return value;
}

Value uint_value(std::uint64_t natural) {
    Value value = of_kind(Kind::Uint);
    value.natural = natural;
    return value;
}

Value double_value(double number) {
    Value value = of_kind(Kind::Double);
    value.number = number;
    return value;
}

Value string_value(std::string_view text) {
    Value value = of_kind(Kind::String);
    value.text = text.data();
    value.extra = static_cast<std::uint32_t>(text.size());
    return value;
}

Value timestamp_value(std::int64_t seconds, std::int32_t nanoseconds) {
    Value value = of_kind(Kind::Timestamp);
    value.integer = seconds;
    value.extra = static_cast<std::uint32_t>(nanoseconds);
    return value;
}

Value duration_value(std::int64_t nanoseconds) {
    Value value = of_kind(Kind::Duration);
    value.integer = nanoseconds;
    return value;
}

Value list_value(List* list) {
    Value value = of_kind(Kind::List);
    value.list = list;
    return value;
}

Value map_value(Map* map) {
    Value value = of_kind(Kind::Map);
    value.map = map;
    return value;
}

Value failure_value(const Failure* failure) {
    Value value = of_kind(Kind::Failure);
    value.failure = failure;
    return value;
}

Value json_value(const Json& json) {
    switch (json.type()) {
        case Json::value_t::boolean:
            return bool_value(*json.get_ptr<const Json::boolean_t*>());
        case Json::value_t::number_integer:
            return int_value(*json.get_ptr<const Json::number_integer_t*>());
        case Json::value_t::number_unsigned: {
            const std::uint64_t number = *json.get_ptr<const Json::number_unsigned_t*>();
            if (number > static_cast<std::uint64_t>(INT64_MAX)) return uint_value(number);
            return int_value(static_cast<std::int64_t>(number));
        }
        case Json::value_t::number_float:
            return double_value(*json.get_ptr<const Json::number_float_t*>());
        case Json::value_t::string:
            return string_value(*json.get_ptr<const Json::string_t*>());
        case Json::value_t::array:
        case Json::value_t::object: {
            Value value = of_kind(json.is_array() ? Kind::JsonList : Kind::JsonMap);
            value.json = &json;
            return value;
        }
        case Json::value_t::null:
        case Json::value_t::binary:
        case Json::value_t::discarded:
            return null_value();
    }
    return null_value();
}

std::string_view type_name(const Value& value) {
    const std::string_view phrase = a_type(value);
    const std::size_t blank = phrase.find(' ');
    return blank == std::string_view::npos ? phrase : phrase.substr(blank + 1);
}

std::string_view a_type(const Value& value) {
    switch (value.kind) {
        case Kind::Null:
            return "null";
        case Kind::Bool:
            return "a bool";
        case Kind::Int:
            return "an int";
        case Kind::Uint:
            return "a uint";
        case Kind::Double:
            return "a double";
        case Kind::String:
            return "a string";
        case Kind::Timestamp:
            return "a timestamp";
        case Kind::Duration:
            return "a duration";
        case Kind::List:
        case Kind::JsonList:
            return "a list";
        case Kind::Map:
        case Kind::JsonMap:
            return "a map";
        case Kind::Failure:
            return "an error";
    }
    return "an error";
}

std::size_t list_size(const Value& list) {
    return list.is(Kind::JsonList) ? list.json->size() : list.list->items.size();
}

Value list_at(const Value& list, std::size_t index) {
    if (list.is(Kind::List)) return list.list->items[index];
    return json_value((*list.json->get_ptr<const Json::array_t*>())[index]);
}

std::size_t map_size(const Value& map) {
    return map.is(Kind::JsonMap) ? map.json->size() : map.map->entries.size();
}

std::optional<Value> map_find(const Value& map, std::string_view key) {
    if (map.is(Kind::Map)) return map_find(map, string_value(key));
    const auto* object = map.json->get_ptr<const Json::object_t*>();
    const auto found = object->find(key);
    if (found == object->end()) return std::nullopt;
    return json_value(found->second);
}

std::optional<Value> map_find(const Value& map, const Value& key) {
    if (map.is(Kind::JsonMap)) {
        return key.is(Kind::String) ? map_find(map, key.string()) : std::nullopt;
    }
    const auto whole = whole_key(key);
    if (!whole) return std::nullopt;
    const auto& entries = map.map->entries;
    const auto at = std::lower_bound(
        entries.begin(),
        entries.end(),
        *whole,
        [](const auto& entry, const Value& wanted) { return key_less(entry.first, wanted); }
    );
    if (at == entries.end() || key_less(*whole, at->first)) return std::nullopt;
    return at->second;
}

MapCursor::MapCursor(const Value& map) {
    if (map.is(Kind::JsonMap)) {
        object_ = map.json->get_ptr<const Json::object_t*>();
        at_ = object_->begin();
    } else {
        map_ = map.map;
    }
}

bool MapCursor::is_done() const {
    return object_ != nullptr ? at_ == object_->end() : index_ == map_->entries.size();
}

Value MapCursor::key() const {
    return object_ != nullptr ? string_value(at_->first) : map_->entries[index_].first;
}

Value MapCursor::value() const {
    return object_ != nullptr ? json_value(at_->second) : map_->entries[index_].second;
}

void MapCursor::next() {
    if (object_ != nullptr) {
        ++at_;
    } else {
        ++index_;
    }
}

bool key_less(const Value& a, const Value& b) {
    const int rank = key_rank(a);
    if (rank != key_rank(b)) return rank < key_rank(b);
    const auto ordering = order(a, b);
    return ordering && *ordering < 0;
}

}  // namespace ebb::expression
