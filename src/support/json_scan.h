#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace ebb {

/// Bytes of a JSON string that mean nothing but themselves: ASCII without control characters,
/// quotes and backslashes.
inline constexpr std::array<bool, 256> kPlainBytes = [] {
    std::array<bool, 256> plain{};
    for (std::size_t c = 0x20; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';
    return plain;
}();

/// The first byte in [at, end) that is not plain; `end` if all are.
inline const char* skip_plain_bytes(const char* at, const char* end) {
#ifdef __SSE2__
    // As signed bytes those of 0x80 and above are below the space, too.
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    const __m128i space = _mm_set1_epi8(' ');
    while (end - at >= 16) {
        __m128i bytes;
        std::memcpy(&bytes, at, sizeof(bytes));
        const __m128i others = _mm_or_si128(
            _mm_cmplt_epi8(bytes, space),
            _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash))
        );
        const int mask = _mm_movemask_epi8(others);
        if (mask != 0) return at + __builtin_ctz(static_cast<unsigned>(mask));
        at += 16;
    }
#endif
    while (at < end && kPlainBytes[static_cast<unsigned char>(*at)]) ++at;
    return at;
}

namespace detail {

/// The eight bytes at `at` with their digits as numbers; `count` of them are digits, from the first
/// one on.
inline std::uint64_t load_digits(const char* at, int& count) {
    std::uint64_t digits = 0;
    std::memcpy(&digits, at, sizeof(digits));
    digits ^= 0x3030'3030'3030'3030;
    const std::uint64_t others =
        ((digits + 0x7676'7676'7676'7676) | digits) & 0x8080'8080'8080'8080;
    count = std::countr_zero(others) / 8;
    return digits;
}

/// The value of `count` digits, 1 to 8, as they were loaded.
inline std::int64_t value_of_digits(std::uint64_t digits, int count) {
    // With zeros before them they are eight: pairs, then fours, then all (Lemire, "Quickly parsing
    // eight digits").
    digits <<= 64 - 8 * count;
    digits = digits * 10 + (digits >> 8);
    constexpr std::uint64_t kMask = 0x0000'00FF'0000'00FF;
    digits =
        (digits & kMask) * 0x000F'4240'0000'0064 + ((digits >> 16) & kMask) * 0x0000'2710'0000'0001;
    return static_cast<std::int64_t>(digits >> 32);
}

inline constexpr std::array<std::int64_t, 8> kPowersOfTen{
    1, 10, 100, 1'000, 10'000, 100'000, 1'000'000, 10'000'000
};

}  // namespace detail

/// The value of the digits that [at, end) begins with, and where they end; null where they are none
/// or more than 18.
inline const char* read_digits(const char* at, const char* end, std::int64_t& value) {
    const char* first = at;
    if (std::endian::native == std::endian::little && end - at >= 16) {
        int count = 0;
        const std::uint64_t digits = detail::load_digits(at, count);
        if (count == 0) return nullptr;
        value = detail::value_of_digits(digits, count);
        if (count < 8) return at + count;
        const std::uint64_t more = detail::load_digits(at + 8, count);
        if (count == 0) return at + 8;
        if (count < 8) {
            value = value * detail::kPowersOfTen[static_cast<std::size_t>(count)] +
                    detail::value_of_digits(more, count);
            return at + 8 + count;
        }
    }
    constexpr std::ptrdiff_t kDigitsMax = 18;
    value = 0;
    while (at != end && *at >= '0' && *at <= '9' && at - first < kDigitsMax) {
        value = value * 10 + (*at++ - '0');
    }
    return at == first || (at != end && *at >= '0' && *at <= '9') ? nullptr : at;
}

namespace detail {

constexpr std::size_t kWord = sizeof(std::uint64_t);

/// Not zero where eight bytes differ. Inlined, because one side is known then.
[[gnu::always_inline]] inline std::uint64_t difference(const char* left, const char* right) {
    std::uint64_t left_word = 0;
    std::uint64_t right_word = 0;
    std::memcpy(&left_word, left, kWord);
    std::memcpy(&right_word, right, kWord);
    return left_word ^ right_word;
}

template <std::size_t Size, std::size_t... Words>
[[gnu::always_inline]] inline bool
are_equal(const char* left, const char* right, std::index_sequence<Words...>) {
    // The last word overlaps.
    return (difference(left + Size - kWord, right + Size - kWord) | ... |
            difference(left + Words * kWord, right + Words * kWord)) == 0;
}

}  // namespace detail

/// Do the bytes at `at` equal `text`? As many as it has must be there.
template <std::size_t N>
[[gnu::always_inline]] inline bool starts_with(const char* at, const char (&text)[N]) {
    constexpr std::size_t kSize = N - 1;
    if constexpr (kSize < detail::kWord) {
        return std::memcmp(at, text, kSize) == 0;
    } else {
        constexpr auto kWords = std::make_index_sequence<(kSize - 1) / detail::kWord>();
        return detail::are_equal<kSize>(at, text, kWords);
    }
}

inline bool is_plain(std::string_view text) {
    const char* begin = text.data();
    const char* end = begin + text.size();
    return skip_plain_bytes(begin, end) == end;
}

}  // namespace ebb
