#include "core/predicate/numeric.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace ebb::predicate {

namespace {

using Digits = std::vector<std::uint8_t>;

void strip(Digits& digits) {
    const auto first =
        std::find_if(digits.begin(), digits.end(), [](std::uint8_t digit) { return digit != 0; });
    digits.erase(digits.begin(), first);
}

std::strong_ordering compare(const Digits& a, const Digits& b) {
    if (a.size() != b.size()) return a.size() <=> b.size();
    return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
}

Digits sum_of(const Digits& a, const Digits& b) {
    Digits sum(std::max(a.size(), b.size()) + 1);
    int carry = 0;
    for (std::size_t i = 0; i < sum.size(); ++i) {
        int digit = carry;
        if (i < a.size()) digit += a[a.size() - 1 - i];
        if (i < b.size()) digit += b[b.size() - 1 - i];
        sum[sum.size() - 1 - i] = static_cast<std::uint8_t>(digit % 10);
        carry = digit / 10;
    }
    strip(sum);
    return sum;
}

/// `a` is not less than `b`.
Digits difference_of(const Digits& a, const Digits& b) {
    Digits difference(a);
    int borrow = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        int digit = a[a.size() - 1 - i] - borrow;
        if (i < b.size()) digit -= b[b.size() - 1 - i];
        borrow = digit < 0 ? 1 : 0;
        difference[a.size() - 1 - i] = static_cast<std::uint8_t>(digit + 10 * borrow);
    }
    strip(difference);
    return difference;
}

Digits product_of(const Digits& a, const Digits& b) {
    std::vector<std::uint32_t> cells(a.size() + b.size());
    for (std::size_t i = a.size(); i-- > 0;) {
        for (std::size_t j = b.size(); j-- > 0;) cells[i + j + 1] += std::uint32_t{a[i]} * b[j];
    }
    Digits product(cells.size());
    std::uint32_t carry = 0;
    for (std::size_t i = cells.size(); i-- > 0;) {
        carry += cells[i];
        product[i] = static_cast<std::uint8_t>(carry % 10);
        carry /= 10;
    }
    strip(product);
    return product;
}

struct Quotient {
    Digits whole;
    Digits rest;
};

Quotient quotient_of(const Digits& a, const Digits& b) {
    Quotient quotient;
    for (const std::uint8_t digit : a) {
        if (!quotient.rest.empty() || digit != 0) quotient.rest.push_back(digit);
        std::uint8_t times = 0;
        while (compare(quotient.rest, b) >= 0) {
            quotient.rest = difference_of(quotient.rest, b);
            ++times;
        }
        quotient.whole.push_back(times);
    }
    strip(quotient.whole);
    return quotient;
}

bool is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// The digit group of four that PostgreSQL's numbers begin with, and its power of 10,000.
struct LeadingGroup {
    int weight = 0;
    int value = 0;
};

LeadingGroup leading_group(const Digits& digits, int scale) {
    if (digits.empty()) return {};
    const int before_point = static_cast<int>(digits.size()) - scale;
    // Groups are aligned to the point.
    const int weight = before_point > 0 ? (before_point - 1) / 4 : -((-before_point) / 4 + 1);
    const int length = before_point - 4 * weight;
    int value = 0;
    for (int i = 0; i < length; ++i) {
        const auto at = static_cast<std::size_t>(i);
        value = value * 10 + (at < digits.size() ? digits[at] : 0);
    }
    return {.weight = weight, .value = value};
}

}  // namespace

Numeric Numeric::from_digits(Digits digits, int scale, bool is_negative) {
    Numeric value;
    strip(digits);
    value.is_negative_ = is_negative && !digits.empty();
    value.digits_ = std::move(digits);
    value.scale_ = scale;
    return value;
}

std::optional<Numeric> Numeric::checked(Numeric value) {
    const int before_point = static_cast<int>(value.digits_.size()) - value.scale_;
    if (before_point > kDigitsMax || value.scale_ > kDigitsMax) return std::nullopt;
    return value;
}

Numeric Numeric::of(std::int64_t value) {
    const std::string text = std::to_string(value);
    return *parse(text);
}

std::optional<Numeric> Numeric::of(double value) {
    if (!std::isfinite(value)) return std::nullopt;
    return parse(fmt::format("{:.15g}", value));
}

std::optional<Numeric> Numeric::parse(std::string_view text) {
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    const bool is_negative = text.starts_with('-');
    if (is_negative || text.starts_with('+')) text.remove_prefix(1);
    Digits digits;
    int scale = 0;
    bool has_point = false;
    std::size_t count = 0;
    std::size_t at = 0;
    for (; at < text.size(); ++at) {
        if (text[at] == '.' && !has_point) {
            has_point = true;
        } else if (is_digit(text[at])) {
            ++count;
            if (has_point) ++scale;
            if (!digits.empty() || text[at] != '0') {
                digits.push_back(static_cast<std::uint8_t>(text[at] - '0'));
            }
        } else {
            break;
        }
    }
    constexpr std::size_t kTextMax = 4 * kDigitsMax;
    if (count == 0 || text.size() > kTextMax) return std::nullopt;
    text.remove_prefix(at);
    if (!text.empty()) {
        if (text[0] != 'e' && text[0] != 'E') return std::nullopt;
        text.remove_prefix(1);
        if (text.starts_with('+') && text.size() > 1 && is_digit(text[1])) text.remove_prefix(1);
        int exponent = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
        const bool is_whole = error == std::errc() && end == text.data() + text.size();
        if (!is_whole || std::abs(exponent) > 2 * kDigitsMax) return std::nullopt;
        scale -= exponent;
    }
    if (scale < 0) {
        if (!digits.empty()) digits.resize(digits.size() + static_cast<std::size_t>(-scale));
        scale = 0;
    }
    return checked(from_digits(std::move(digits), scale, is_negative));
}

std::string Numeric::to_string() const {
    std::string text;
    for (const std::uint8_t digit : digits_) text += static_cast<char>('0' + digit);
    const auto scale = static_cast<std::size_t>(scale_);
    if (text.size() <= scale) text.insert(0, scale + 1 - text.size(), '0');
    if (scale > 0) text.insert(text.size() - scale, ".");
    if (is_negative_) text.insert(0, "-");
    return text;
}

double Numeric::to_double() const {
    const std::string text = to_string();
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    static_cast<void>(end);
    if (error == std::errc::result_out_of_range && static_cast<int>(digits_.size()) > scale_) {
        return is_negative_ ? -HUGE_VAL : HUGE_VAL;
    }
    return value;
}

std::optional<std::int64_t> Numeric::to_integer() const {
    const std::string text = rounded(0).to_string();
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    static_cast<void>(end);
    if (error != std::errc()) return std::nullopt;
    return value;
}

Numeric Numeric::negated() const {
    return from_digits(digits_, scale_, !is_negative_);
}

Numeric Numeric::absolute() const {
    return from_digits(digits_, scale_, false);
}

Numeric::Digits Numeric::scaled_digits(int scale) const {
    Digits digits = digits_;
    if (!digits.empty()) digits.resize(digits.size() + static_cast<std::size_t>(scale - scale_));
    return digits;
}

Numeric Numeric::rounded(int scale) const {
    scale = std::clamp(scale, -kDigitsMax, kDigitsMax);
    if (scale >= scale_) return from_digits(scaled_digits(scale), scale, is_negative_);
    const auto dropped = static_cast<std::size_t>(scale_ - scale);
    Digits kept;
    bool rounds_up = false;
    if (dropped <= digits_.size()) {
        const std::size_t count = digits_.size() - dropped;
        kept.assign(digits_.begin(), digits_.begin() + static_cast<std::ptrdiff_t>(count));
        rounds_up = digits_[count] >= 5;
    }
    if (rounds_up) kept = sum_of(kept, {1});
    if (scale < 0 && !kept.empty()) kept.resize(kept.size() + static_cast<std::size_t>(-scale));
    return from_digits(std::move(kept), std::max(scale, 0), is_negative_);
}

Numeric Numeric::floor() const {
    const std::size_t fraction = std::min(digits_.size(), static_cast<std::size_t>(scale_));
    const auto end = digits_.end() - static_cast<std::ptrdiff_t>(fraction);
    const bool is_whole = std::all_of(end, digits_.end(), [](std::uint8_t d) { return d == 0; });
    Digits whole(digits_.begin(), end);
    if (is_negative_ && !is_whole) whole = sum_of(whole, {1});
    return from_digits(std::move(whole), 0, is_negative_);
}

Numeric Numeric::ceil() const {
    return negated().floor().negated();
}

std::strong_ordering Numeric::compare_magnitudes(const Numeric& a, const Numeric& b) {
    const int scale = std::max(a.scale_, b.scale_);
    return compare(a.scaled_digits(scale), b.scaled_digits(scale));
}

std::strong_ordering operator<=>(const Numeric& a, const Numeric& b) {
    if (a.is_negative_ != b.is_negative_) {
        return a.is_negative_ ? std::strong_ordering::less : std::strong_ordering::greater;
    }
    return a.is_negative_ ? Numeric::compare_magnitudes(b, a) : Numeric::compare_magnitudes(a, b);
}

Numeric Numeric::signed_sum(const Numeric& a, const Numeric& b, bool subtracts) {
    const int scale = std::max(a.scale_, b.scale_);
    const Digits left = a.scaled_digits(scale);
    const Digits right = b.scaled_digits(scale);
    const bool is_right_negative = b.is_negative_ != subtracts;
    if (a.is_negative_ == is_right_negative) {
        return from_digits(sum_of(left, right), scale, a.is_negative_);
    }
    if (compare(left, right) >= 0) {
        return from_digits(difference_of(left, right), scale, a.is_negative_);
    }
    return from_digits(difference_of(right, left), scale, is_right_negative);
}

std::optional<Numeric> add(const Numeric& a, const Numeric& b) {
    return Numeric::checked(Numeric::signed_sum(a, b, false));
}

std::optional<Numeric> subtract(const Numeric& a, const Numeric& b) {
    return Numeric::checked(Numeric::signed_sum(a, b, true));
}

std::optional<Numeric> multiply(const Numeric& a, const Numeric& b) {
    return Numeric::checked(Numeric::from_digits(
        product_of(a.digits_, b.digits_), a.scale_ + b.scale_, a.is_negative_ != b.is_negative_
    ));
}

std::optional<Numeric> divide(const Numeric& a, const Numeric& b) {
    // As PostgreSQL chooses it: at least 16 significant digits, and no fewer than either has.
    constexpr int kSignificantDigits = 16;
    const LeadingGroup first = leading_group(a.digits_, a.scale_);
    const LeadingGroup second = leading_group(b.digits_, b.scale_);
    int weight = first.weight - second.weight;
    if (first.value <= second.value) --weight;
    const int scale = std::clamp(
        std::max({kSignificantDigits - 4 * weight, a.scale_, b.scale_, 0}), 0, Numeric::kDigitsMax
    );
    // One digit more than is kept, to round by.
    const int shift = scale + 1 - a.scale_ + b.scale_;
    Numeric::Digits dividend = a.digits_;
    Numeric::Digits divisor = b.digits_;
    if (shift >= 0) {
        if (!dividend.empty()) dividend.resize(dividend.size() + static_cast<std::size_t>(shift));
    } else {
        divisor.resize(divisor.size() + static_cast<std::size_t>(-shift));
    }
    Numeric quotient = Numeric::from_digits(
        quotient_of(dividend, divisor).whole, scale + 1, a.is_negative_ != b.is_negative_
    );
    return Numeric::checked(quotient.rounded(scale));
}

std::optional<Numeric> remainder(const Numeric& a, const Numeric& b) {
    const int scale = std::max(a.scale_, b.scale_);
    Quotient quotient = quotient_of(a.scaled_digits(scale), b.scaled_digits(scale));
    return Numeric::from_digits(std::move(quotient.rest), scale, a.is_negative_);
}

}  // namespace ebb::predicate
