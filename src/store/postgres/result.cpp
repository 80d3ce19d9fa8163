#include "store/postgres/result.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include <ebb/error.h>

namespace ebb::postgres {

namespace {

[[noreturn]] void fail(const PGresult* result, int column, std::string_view expected) {
    const char* name = PQfname(result, column);
    throw Error(
        ErrorCode::CorruptState,
        fmt::format(
            "The column \"{}\" of the database holds something other than {}.",
            name == nullptr ? "?" : name,
            expected
        )
    );
}

std::uint64_t big_endian(std::string_view bytes) {
    std::uint64_t value = 0;
    for (const char byte : bytes) value = (value << 8U) | static_cast<unsigned char>(byte);
    return value;
}

}  // namespace

std::int64_t Result::changed() const {
    const std::string_view text = PQcmdTuples(result_.get());
    std::int64_t count = 0;
    std::from_chars(text.data(), text.data() + text.size(), count);
    return count;
}

std::int64_t Result::integer(int row, int column) const {
    const std::string_view bytes = text(row, column);
    const std::uint64_t value = big_endian(bytes);
    switch (bytes.size()) {
        case 0:
            return 0;
        case 1:
            return static_cast<std::int64_t>(value);
        case 2:
            return static_cast<std::int16_t>(value);
        case 4:
            return static_cast<std::int32_t>(value);
        case 8:
            return static_cast<std::int64_t>(value);
        default:
            fail(result_.get(), column, "a number");
    }
}

std::string_view Result::text(int row, int column) const {
    const auto size = static_cast<std::size_t>(PQgetlength(result_.get(), row, column));
    return {PQgetvalue(result_.get(), row, column), size};
}

InstanceId Result::id(int row, int column) const {
    const std::string_view bytes = text(row, column);
    InstanceId id;
    if (bytes.size() != id.bytes.size()) fail(result_.get(), column, "an id");
    std::copy(bytes.begin(), bytes.end(), id.bytes.begin());
    return id;
}

std::vector<std::string> Result::texts(int row, int column) const {
    constexpr std::size_t kEmptySize = 12;
    constexpr std::size_t kHeaderSize = 20;
    std::string_view bytes = text(row, column);
    std::vector<std::string> texts;
    if (bytes.size() == kEmptySize) return texts;
    if (bytes.size() < kHeaderSize) fail(result_.get(), column, "a list of texts");
    const std::uint64_t count = big_endian(bytes.substr(12, 4));
    bytes.remove_prefix(kHeaderSize);
    for (std::uint64_t i = 0; i < count; ++i) {
        if (bytes.size() < 4) fail(result_.get(), column, "a list of texts");
        const std::uint64_t size = big_endian(bytes.substr(0, 4));
        bytes.remove_prefix(4);
        if (size > bytes.size()) fail(result_.get(), column, "a list of texts");
        texts.emplace_back(bytes.substr(0, size));
        bytes.remove_prefix(size);
    }
    return texts;
}

}  // namespace ebb::postgres
