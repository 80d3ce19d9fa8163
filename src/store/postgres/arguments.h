#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/id.h>
#include <ebb/time.h>

// What statements are given, in PostgreSQL's binary format: nothing is quoted, so nothing can be
// injected, and the server parses no numbers. A C++ type stands for one type of SQL: int for
// integer, int64 and TimePoint for bigint.

namespace ebb::postgres {

/// Becomes NULL when it is empty or zero, to keep rows small.
struct OrNull {
    explicit OrNull(std::string_view value) : text(value), is_text(true) {}

    explicit OrNull(std::int64_t value) : integer(value) {}

    explicit OrNull(TimePoint value) : integer(value.time_since_epoch().count()) {}

    bool is_null() const { return is_text ? text.empty() : integer == 0; }

    std::string_view text;
    std::int64_t integer = 0;
    bool is_text = false;
};

/// A one-dimensional array under construction.
class Array {
 public:
    enum class Of { Bool, Bigint, Integer, Text, Uuid };

    explicit Array(Of type);

    void add(std::int64_t value);
    void add(std::int32_t value);
    void add(bool value);
    void add(std::string_view value);

    void add(const std::string& value) { add(std::string_view(value)); }

    void add(const InstanceId& value);

    void add(TimePoint value) { add(std::int64_t{value.time_since_epoch().count()}); }

    void add(const OrNull& value);
    void add_null();

    std::size_t size() const { return size_; }

    /// The whole array as PostgreSQL reads it.
    std::string_view encoded() const;
    /// The same where each 0 is read as NULL: an array of nothing else is sent as an empty one,
    /// whose every element is NULL, too.
    std::string_view encoded_sparsely() const;

 private:
    void grow();
    void put(std::uint32_t value);
    void put_at(std::size_t at, std::uint32_t value);

    std::size_t size_ = 0;
    bool has_value_ = false;  // other than 0 and NULL
    std::string bytes_;
    std::string empty_;
};

/// An array of texts.
Array texts_of(const std::vector<std::string>& values);

/// The arguments $1, $2, ... of one statement. Small values and texts are copied; an Array must
/// live until the statement was sent.
class Arguments {
 public:
    Arguments() = default;

    template <class... Values>
    static Arguments of(const Values&... values) {
        Arguments arguments;
        (arguments.add(values), ...);
        return arguments;
    }

    void add(std::int64_t value);
    void add(std::int32_t value);
    void add(bool value);
    void add(std::string_view value);

    void add(const std::string& value) { add(std::string_view(value)); }

    void add(const char* value) { add(std::string_view(value)); }

    void add(const InstanceId& value);

    void add(TimePoint value) { add(std::int64_t{value.time_since_epoch().count()}); }

    void add(const OrNull& value);
    void add(const Array& value);
    void add_sparse(const Array& value);
    void add_null();

    template <class T>
    void add(const std::optional<T>& value) {
        if (value) {
            add(*value);
        } else {
            add_null();
        }
    }

    int size() const { return static_cast<int>(places_.size()); }

    /// Pointers and lengths as libpq wants them; valid until the next `add`.
    std::vector<const char*> values() const;
    std::vector<int> lengths() const;

 private:
    struct Place {
        const char* outside = nullptr;  // an Array's bytes
        std::size_t offset = 0;         // or into bytes_
        int length = -1;                // -1 = NULL
    };

    void copy(const char* data, std::size_t size);
    void refer(std::string_view outside);

    std::string bytes_;
    std::vector<Place> places_;
};

}  // namespace ebb::postgres
