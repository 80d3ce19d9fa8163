#include "store/postgres/arguments.h"

#include <algorithm>
#include <array>

namespace ebb::postgres {

namespace {

constexpr std::size_t kCountAt = 12;

std::uint32_t oid_of(Array::Of type) {
    switch (type) {
        case Array::Of::Bool:
            return 16;
        case Array::Of::Bigint:
            return 20;
        case Array::Of::Integer:
            return 23;
        case Array::Of::Text:
            return 25;
        case Array::Of::Uuid:
            return 2950;
    }
    return 0;
}

template <class Unsigned>
std::array<char, sizeof(Unsigned)> big_endian(Unsigned value) {
    std::array<char, sizeof(Unsigned)> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[bytes.size() - 1 - i] = static_cast<char>(static_cast<unsigned char>(value & 0xff));
        value = static_cast<Unsigned>(value >> 8U);
    }
    return bytes;
}

}  // namespace

Array::Array(Of type) {
    put(0);  // dimensions
    put(0);  // holds NULLs
    put(oid_of(type));
    empty_ = bytes_;  // an empty array has no dimension, and so no more than this
    put_at(0, 1);
    put_at(4, 1);
    put(0);  // how many
    put(1);  // number of the first
}

void Array::grow() {
    const auto bytes = big_endian(static_cast<std::uint32_t>(++size_));
    std::copy(bytes.begin(), bytes.end(), bytes_.begin() + kCountAt);
}

void Array::put(std::uint32_t value) {
    const auto bytes = big_endian(value);
    bytes_.append(bytes.data(), bytes.size());
}

void Array::put_at(std::size_t at, std::uint32_t value) {
    const auto bytes = big_endian(value);
    bytes_.replace(at, bytes.size(), bytes.data(), bytes.size());
}

void Array::add(std::int64_t value) {
    const auto bytes = big_endian(static_cast<std::uint64_t>(value));
    const char item[] = {
        0,
        0,
        0,
        sizeof value,
        bytes[0],
        bytes[1],
        bytes[2],
        bytes[3],
        bytes[4],
        bytes[5],
        bytes[6],
        bytes[7]
    };
    bytes_.append(item, sizeof item);
    has_value_ |= value != 0;
    grow();
}

void Array::add(std::int32_t value) {
    const auto bytes = big_endian(static_cast<std::uint32_t>(value));
    const char item[] = {0, 0, 0, sizeof value, bytes[0], bytes[1], bytes[2], bytes[3]};
    bytes_.append(item, sizeof item);
    has_value_ |= value != 0;
    grow();
}

void Array::add(bool value) {
    put(1);
    bytes_ += value ? '\1' : '\0';
    has_value_ = true;
    grow();
}

void Array::add(std::string_view value) {
    put(static_cast<std::uint32_t>(value.size()));
    bytes_ += value;
    has_value_ = true;
    grow();
}

void Array::add(const InstanceId& value) {
    put(static_cast<std::uint32_t>(value.bytes.size()));
    bytes_.append(reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size());
    has_value_ = true;
    grow();
}

void Array::add(const OrNull& value) {
    if (value.is_null()) return add_null();
    if (value.is_text) return add(value.text);
    add(value.integer);
}

void Array::add_null() {
    put(0xffffffffU);
    grow();
}

std::string_view Array::encoded() const {
    return size_ > 0 ? std::string_view(bytes_) : std::string_view(empty_);
}

std::string_view Array::encoded_sparsely() const {
    return has_value_ ? encoded() : std::string_view(empty_);
}

Array texts_of(const std::vector<std::string>& values) {
    Array array(Array::Of::Text);
    for (const std::string& value : values) array.add(value);
    return array;
}

void Arguments::copy(const char* data, std::size_t size) {
    places_.push_back({.offset = bytes_.size(), .length = static_cast<int>(size)});
    bytes_.append(data, size);
}

void Arguments::add(std::int64_t value) {
    const auto bytes = big_endian(static_cast<std::uint64_t>(value));
    copy(bytes.data(), bytes.size());
}

void Arguments::add(std::int32_t value) {
    const auto bytes = big_endian(static_cast<std::uint32_t>(value));
    copy(bytes.data(), bytes.size());
}

void Arguments::add(bool value) {
    const char byte = value ? '\1' : '\0';
    copy(&byte, 1);
}

void Arguments::add(std::string_view value) {
    copy(value.data(), value.size());
}

void Arguments::add(const InstanceId& value) {
    const std::string bytes(value.bytes.begin(), value.bytes.end());
    copy(bytes.data(), bytes.size());
}

void Arguments::add(const OrNull& value) {
    if (value.is_null()) return add_null();
    if (value.is_text) return add(value.text);
    add(value.integer);
}

void Arguments::add(const Array& value) {
    refer(value.encoded());
}

void Arguments::add_sparse(const Array& value) {
    refer(value.encoded_sparsely());
}

void Arguments::refer(std::string_view outside) {
    places_.push_back({.outside = outside.data(), .length = static_cast<int>(outside.size())});
}

void Arguments::add_null() {
    places_.push_back({});
}

std::vector<const char*> Arguments::values() const {
    std::vector<const char*> values;
    values.reserve(places_.size());
    for (const Place& place : places_) {
        const char* data = place.outside != nullptr ? place.outside : bytes_.data() + place.offset;
        values.push_back(place.length < 0 ? nullptr : data);
    }
    return values;
}

std::vector<int> Arguments::lengths() const {
    std::vector<int> lengths;
    lengths.reserve(places_.size());
    for (const Place& place : places_) lengths.push_back(place.length);
    return lengths;
}

}  // namespace ebb::postgres
