#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ebb::predicate {

/// A decimal number of any size, with PostgreSQL's rules for how many digits stand behind the
/// point: sums keep the longer fraction, products add both, a quotient has at least 16 significant
/// digits. Without NaN and infinity.
class Numeric {
 public:
    /// Digits before the point, and behind it. What would have more is an overflow.
    static constexpr int kDigitsMax = 1'000;

    Numeric() = default;
    static Numeric of(std::int64_t value);
    /// With 15 significant digits, as PostgreSQL converts. Empty for NaN and infinity.
    static std::optional<Numeric> of(double value);
    /// Reads `-12.50`, `.5`, `1e3`, with spaces around. Empty when `text` is something else, or is
    /// too long.
    static std::optional<Numeric> parse(std::string_view text);

    std::string to_string() const;
    double to_double() const;
    /// Rounded half away from zero; empty when it does not fit.
    std::optional<std::int64_t> to_integer() const;

    bool is_zero() const { return digits_.empty(); }

    int scale() const { return scale_; }

    Numeric negated() const;
    Numeric absolute() const;
    /// With `scale` digits behind the point (negative: zeros before it), half away from zero.
    Numeric rounded(int scale) const;
    /// The greatest whole number that is not greater, or the least that is not less.
    Numeric floor() const;
    Numeric ceil() const;

    friend std::optional<Numeric> add(const Numeric& a, const Numeric& b);
    friend std::optional<Numeric> subtract(const Numeric& a, const Numeric& b);
    friend std::optional<Numeric> multiply(const Numeric& a, const Numeric& b);
    /// `b` is not zero.
    friend std::optional<Numeric> divide(const Numeric& a, const Numeric& b);
    friend std::optional<Numeric> remainder(const Numeric& a, const Numeric& b);

    /// By value: 1.0 equals 1.
    friend std::strong_ordering operator<=>(const Numeric& a, const Numeric& b);

    friend bool operator==(const Numeric& a, const Numeric& b) { return (a <=> b) == 0; }

 private:
    using Digits = std::vector<std::uint8_t>;

    static std::optional<Numeric> checked(Numeric value);
    static Numeric signed_sum(const Numeric& a, const Numeric& b, bool subtracts);
    static std::strong_ordering compare_magnitudes(const Numeric& a, const Numeric& b);
    /// The digits as a whole number with `scale` of them behind the point.
    Digits scaled_digits(int scale) const;
    static Numeric from_digits(Digits digits, int scale, bool is_negative);

    // digits_ is the whole number |value| * 10^scale_, most significant first, without leading
    // zeros.
    Digits digits_;
    int scale_ = 0;
    bool is_negative_ = false;
};

}  // namespace ebb::predicate
