#pragma once

#include <cstdint>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <ebb/json.h>

namespace ebb::expression {

enum class Kind : std::uint8_t {
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Timestamp,
    Duration,
    List,      ///< built by the expression
    Map,       ///< built by the expression
    JsonList,  ///< an array of a variable, by reference
    JsonMap,   ///< an object of a variable, by reference
    Failure,   ///< an error on its way to the operation that absorbs it (`&&`, `||`, `all`,
               ///< `exists`)
};

struct List;
struct Map;
struct Failure;

/// One value of an evaluation: 16 bytes, copied freely. It owns nothing: texts, lists and maps live
/// in the variables, in the compiled code or in the evaluation's arena.
struct Value {
    Kind kind;
    std::uint32_t extra;  ///< bytes of a string, nanoseconds of a timestamp

    union {
        bool boolean;
        std::int64_t integer;  ///< also the seconds of a timestamp, the nanoseconds of a duration
        std::uint64_t natural;
        double number;
        const char* text;
        List* list;
        Map* map;
        const Json* json;
        const Failure* failure;
    };

    bool is(Kind other) const { return kind == other; }

    bool is_list() const { return kind == Kind::List || kind == Kind::JsonList; }

    bool is_map() const { return kind == Kind::Map || kind == Kind::JsonMap; }

    bool is_number() const {
        return kind == Kind::Int || kind == Kind::Uint || kind == Kind::Double;
    }

    std::string_view string() const { return {text, extra}; }
};

/// What went wrong and where (a byte of the source).
struct Failure {
    std::string_view message;
    std::uint32_t place;
    /// The map that lacks the key `wanted`, when that is what went wrong. What it has instead is
    /// looked at only when the error is shown, as most such errors are absorbed.
    Value map;
    std::string_view wanted;
};

/// A list that is built; its memory is the arena's.
struct List {
    std::pmr::vector<Value> items;
};

/// A map that is built: sorted by key_less once it is complete, so that its order does not depend
/// on how it was written.
struct Map {
    std::pmr::vector<std::pair<Value, Value>> entries;
};

Value null_value();
Value bool_value(bool value);
Value int_value(std::int64_t value);
Value uint_value(std::uint64_t value);
Value double_value(double value);
/// `text` must outlive the value.
Value string_value(std::string_view text);
Value timestamp_value(std::int64_t seconds, std::int32_t nanoseconds);
Value duration_value(std::int64_t nanoseconds);
Value list_value(List* list);
Value map_value(Map* map);
Value failure_value(const Failure* failure);
/// A view of `json`, which must outlive the value. Integral JSON numbers are int, above int's
/// maximum uint; those with a fraction or an exponent are double.
Value json_value(const Json& json);

/// `null`, `bool`, `int`, `uint`, `double`, `string`, `list`, `map`, `timestamp`, `duration`.
std::string_view type_name(const Value& value);
/// The same with its article, for sentences: `an int`.
std::string_view a_type(const Value& value);

std::size_t list_size(const Value& list);
Value list_at(const Value& list, std::size_t index);
std::size_t map_size(const Value& map);
/// The value of `key`. Numbers are the same key whatever their type: `1`, `1u` and `1.0`.
std::optional<Value> map_find(const Value& map, const Value& key);
std::optional<Value> map_find(const Value& map, std::string_view key);

/// Walks the entries of a map in the order of their keys.
class MapCursor {
 public:
    MapCursor() = default;
    explicit MapCursor(const Value& map);

    bool is_done() const;
    Value key() const;
    Value value() const;
    void next();

 private:
    const Json::object_t* object_ = nullptr;
    Json::object_t::const_iterator at_;
    const Map* map_ = nullptr;
    std::size_t index_ = 0;
};

/// The order of keys: bools, numbers, strings.
bool key_less(const Value& a, const Value& b);

}  // namespace ebb::expression
