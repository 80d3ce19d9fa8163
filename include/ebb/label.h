#pragma once

#include <concepts>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include <ebb/print.h>
#include <ebb/time.h>

// Labels: typed values by which instances are found (docs/reference/filters.md).

namespace ebb {

enum class LabelType { Text, Number, Bool, Time };

/// `text`, `number`, `bool`, `time`.
std::string_view to_string(LabelType type);

/// The value of a label. Implicit, so that a list of labels is easy to write:
/// `{{"customer", "acme"}, {"total", 99.5}, {"vip", true}}`.
class LabelValue {
 public:
    LabelValue() = default;  ///< an empty text

    // NOLINTBEGIN(google-explicit-constructor): a list of labels is easy to write because of them.

    LabelValue(std::string text) : value_(std::move(text)) {}

    LabelValue(std::string_view text) : value_(std::string(text)) {}

    LabelValue(const char* text) : value_(std::string(text)) {}

    template <typename T>
        requires std::same_as<T, bool>
    LabelValue(T value) : value_(value) {}

    template <typename T>
        requires(std::is_arithmetic_v<T> && !std::same_as<T, bool>)
    LabelValue(T number) : value_(static_cast<double>(number)) {}

    LabelValue(TimePoint time) : value_(time) {}

    // NOLINTEND(google-explicit-constructor)

    LabelType type() const { return static_cast<LabelType>(value_.index()); }

    // Each only for its type.

    const std::string& text() const { return std::get<std::string>(value_); }

    double number() const { return std::get<double>(value_); }

    bool boolean() const { return std::get<bool>(value_); }

    TimePoint time() const { return std::get<TimePoint>(value_); }

    bool operator==(const LabelValue&) const = default;

 private:
    std::variant<std::string, double, bool, TimePoint> value_;
};

/// By name.
using Labels = std::map<std::string, LabelValue, std::less<>>;

/// The named limits of labels.
struct LabelLimits {
    static constexpr std::size_t kLabelsMax = 64;     ///< of one instance
    static constexpr std::size_t kNameBytesMax = 64;  ///< `[A-Za-z_][A-Za-z0-9_.-]*`
    static constexpr std::size_t kTextBytesMax = 256;
};

/// Throws InvalidArgument or LimitExceeded for labels that are not allowed.
void check_labels(const Labels& labels);

}  // namespace ebb
