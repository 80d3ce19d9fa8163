#include "core/rules_analysis/regions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/predicate/evaluator.h"
#include "core/predicate/time_values.h"
#include "core/rules/values.h"
#include "support/json.h"

namespace ebb::rules_analysis {

namespace {

using predicate::Datum;
using predicate::Type;

Datum null() {
    return {};
}

Datum text_datum(std::string text) {
    Datum datum;
    datum.is_null = false;
    datum.text = std::move(text);
    return datum;
}

Datum integer_datum(std::int64_t value) {
    Datum datum;
    datum.is_null = false;
    datum.integer = value;
    return datum;
}

Datum real_datum(double value) {
    Datum datum;
    datum.is_null = false;
    datum.real = value;
    return datum;
}

Datum numeric_datum(predicate::Numeric value) {
    Datum datum;
    datum.is_null = false;
    datum.numeric = std::move(value);
    return datum;
}

struct Range {
    std::int64_t least;
    std::int64_t most;
};

/// Of the types that are whole numbers inside.
Range range_of(Type type) {
    constexpr std::int64_t kDayMin = -719'162;   // 0001-01-01
    constexpr std::int64_t kDayMax = 2'932'896;  // 9999-12-31
    if (type == Type::Date) return {kDayMin, kDayMax};
    if (type == Type::Timestamp) {
        return {
            kDayMin * predicate::kMicrosecondsPerDay,
            (kDayMax + 1) * predicate::kMicrosecondsPerDay - 1
        };
    }
    return {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()};
}

/// A value strictly between two neighboring points; null = there is no such bound.
std::optional<Datum> integer_between(Type type, const Datum* below, const Datum* above) {
    const Range range = range_of(type);
    if (below == nullptr) {
        if (above->integer <= range.least) return std::nullopt;
        return integer_datum(above->integer - 1);
    }
    if (below->integer >= range.most) return std::nullopt;
    const std::int64_t next = below->integer + 1;
    if (above != nullptr && next >= above->integer) return std::nullopt;
    return integer_datum(next);
}

std::optional<Datum> real_between(const Datum* below, const Datum* above) {
    constexpr double kMost = std::numeric_limits<double>::max();
    if (below == nullptr) {
        if (above->real <= -kMost) return std::nullopt;
        return real_datum(std::nextafter(above->real, -kMost));
    }
    if (below->real >= kMost || std::isnan(below->real)) return std::nullopt;
    const double next = std::nextafter(below->real, kMost);
    if (above != nullptr && next >= above->real) return std::nullopt;
    return real_datum(next);
}

std::optional<Datum> numeric_between(const Datum* below, const Datum* above) {
    using predicate::Numeric;
    if (below == nullptr) {
        return numeric_datum(
            subtract(above->numeric, Numeric::of(std::int64_t{1})).value_or(above->numeric)
        );
    }
    if (above == nullptr) {
        return numeric_datum(
            add(below->numeric, Numeric::of(std::int64_t{1})).value_or(below->numeric)
        );
    }
    const auto sum = add(below->numeric, above->numeric);
    const auto half = sum ? multiply(*sum, *Numeric::parse("0.5")) : std::nullopt;
    if (!half) return std::nullopt;
    return numeric_datum(*half);
}

std::optional<Datum> text_between(const Datum* below, const Datum* above) {
    if (below == nullptr) {
        if (above->text.empty()) return std::nullopt;
        return text_datum("");
    }
    for (const char* const more : {" and more", "!", "\x01"}) {
        std::string next = below->text + more;
        if (above == nullptr || next < above->text) return text_datum(std::move(next));
    }
    return std::nullopt;
}

/// A text that differs from `lower` in the case of its letters only, and that is not a point.
std::optional<std::string> other_case(const std::string& lower, const std::vector<Datum>& points) {
    const auto is_point = [&](const std::string& text) {
        return std::any_of(points.begin(), points.end(), [&](const Datum& point) {
            return point.text == text;
        });
    };
    std::vector<std::size_t> letters;
    for (std::size_t i = 0; i < lower.size(); ++i) {
        if (lower[i] >= 'a' && lower[i] <= 'z') letters.push_back(i);
    }
    // One more than there are points is enough to find one.
    const std::size_t bits = std::min<std::size_t>(letters.size(), 16);
    for (std::size_t mask = 0; mask < std::size_t{1} << bits; ++mask) {
        std::string text = lower;
        for (std::size_t i = 0; i < bits; ++i) {
            if ((mask >> i & 1U) != 0) text[letters[i]] = static_cast<char>(text[letters[i]] - 32);
        }
        if (!is_point(text)) return text;
    }
    return std::nullopt;
}

}  // namespace

Domain::Domain(AttributeType type, const Cuts& cuts)
    : type_(type), seen_as_(rules::predicate_type(type)), cuts_(cuts) {
    regions_.push_back({.sample = null(), .text = "null", .is_named = true});
    sort_points();
    if (seen_as_ == Type::Boolean) {
        for (const bool value : {false, true}) {
            regions_.push_back(
                {.sample = integer_datum(value ? 1 : 0),
                 .text = value ? "true" : "false",
                 .is_named = true}
            );
        }
        return;
    }
    if (cuts_.is_ordered && seen_as_ != Type::Json && seen_as_ != Type::Uuid) {
        add_ordered();
    } else {
        add_unordered();
    }
}

int Domain::compare(const Datum& a, const Datum& b) const {
    return predicate::compare_values(seen_as_, predicate::view_of(a), predicate::view_of(b));
}

bool Domain::is_equal(const Datum& a, const Datum& b) const {
    return compare(a, b) == 0;
}

void Domain::sort_points() {
    auto& points = cuts_.points;
    std::erase_if(points, [](const Datum& point) { return point.is_null; });
    std::sort(points.begin(), points.end(), [&](const Datum& a, const Datum& b) {
        return compare(a, b) < 0;
    });
    points.erase(
        std::unique(
            points.begin(),
            points.end(),
            [&](const Datum& a, const Datum& b) { return is_equal(a, b); }
        ),
        points.end()
    );
    std::sort(cuts_.folded.begin(), cuts_.folded.end());
    cuts_.folded.erase(std::unique(cuts_.folded.begin(), cuts_.folded.end()), cuts_.folded.end());
}

std::string Domain::literal(const Datum& value) const {
    const std::string text = predicate::text_of(seen_as_, predicate::view_of(value));
    if (predicate::is_number(seen_as_)) return text;
    return "'" + text + "'";
}

void Domain::add_point(const Datum& point) {
    regions_.push_back({.sample = point, .text = literal(point), .is_named = true});
}

void Domain::add_sample(Datum sample, std::string text) {
    regions_.push_back({.sample = std::move(sample), .text = std::move(text)});
}

void Domain::add_ordered() {
    const auto& points = cuts_.points;
    const auto between = [&](const Datum* below, const Datum* above) {
        switch (seen_as_) {
            case Type::Text:
                return text_between(below, above);
            case Type::Double:
                return real_between(below, above);
            case Type::Numeric:
                return numeric_between(below, above);
            default:
                return integer_between(seen_as_, below, above);
        }
    };
    if (points.empty()) return add_rest();
    if (auto sample = between(nullptr, &points.front())) {
        add_sample(std::move(*sample), "less than " + literal(points.front()));
    }
    for (std::size_t i = 0; i < points.size(); ++i) {
        add_point(points[i]);
        const bool is_last = i + 1 == points.size();
        const Datum* above = is_last ? nullptr : &points[i + 1];
        auto sample = between(&points[i], above);
        if (!sample) continue;
        add_sample(
            std::move(*sample),
            is_last ? "more than " + literal(points[i])
                    : fmt::format("between {} and {}", literal(points[i]), literal(*above))
        );
    }
}

void Domain::add_unordered() {
    for (const Datum& point : cuts_.points) add_point(point);
    add_folded();
    add_rest();
}

void Domain::add_folded() {
    for (const std::string& lower : cuts_.folded) {
        // What is not in lower case equals the lower-case form of no text.
        if (predicate::ascii_lower(lower) != lower) continue;
        auto text = other_case(lower, cuts_.points);
        if (!text) continue;
        add_sample(text_datum(std::move(*text)), fmt::format("'{}' in any case", lower));
    }
}

/// A value that no condition names.
void Domain::add_rest() {
    const auto is_new = [&](const Datum& candidate) {
        const bool is_point =
            std::any_of(cuts_.points.begin(), cuts_.points.end(), [&](const Datum& point) {
                return is_equal(point, candidate);
            });
        const std::string lower = predicate::ascii_lower(candidate.text);
        const bool is_folded =
            std::find(cuts_.folded.begin(), cuts_.folded.end(), lower) != cuts_.folded.end();
        return !is_point && (seen_as_ != Type::Text || !is_folded);
    };
    const std::string what =
        cuts_.points.empty() && cuts_.folded.empty() ? "a value" : "another value";
    for (std::int64_t i = 0;; ++i) {
        Datum candidate = integer_datum(i);
        candidate.real = static_cast<double>(i);
        candidate.numeric = predicate::Numeric::of(i);
        candidate.text = i == 0 ? "other" : fmt::format("other {}", i);
        if (seen_as_ == Type::Uuid) {
            candidate.text = fmt::format("00000000-0000-4000-8000-{:012x}", i);
        }
        if (seen_as_ == Type::Json) candidate.text = fmt::format("{{\"other\":{}}}", i);
        if (is_new(candidate)) return add_sample(std::move(candidate), what);
    }
}

int Domain::find(const Datum& value) const {
    if (value.is_null) return 0;
    for (std::size_t i = 1; i < regions_.size(); ++i) {
        const Region& region = regions_[i];
        if (region.is_named && is_equal(region.sample, value)) return static_cast<int>(i);
    }
    const auto last = static_cast<int>(regions_.size()) - 1;
    if (seen_as_ == Type::Text && !cuts_.is_ordered) {
        const std::string lower = predicate::ascii_lower(value.text);
        for (int i = 1; i < last; ++i) {
            const Region& region = regions_[static_cast<std::size_t>(i)];
            const std::string sample = predicate::ascii_lower(region.sample.text);
            if (!region.is_named && sample == lower) return i;
        }
        return last;
    }
    if (!cuts_.is_ordered || cuts_.points.empty()) return last;
    // The gap behind the greatest point that is less.
    const auto above =
        std::find_if(cuts_.points.begin(), cuts_.points.end(), [&](const Datum& point) {
            return compare(point, value) > 0;
        });
    for (std::size_t i = 1; i < regions_.size(); ++i) {
        const Region& region = regions_[i];
        if (region.is_named) continue;
        const bool is_below = above == cuts_.points.end() || compare(region.sample, *above) < 0;
        const bool is_above =
            above == cuts_.points.begin() || compare(region.sample, *std::prev(above)) > 0;
        if (is_below && is_above) return static_cast<int>(i);
    }
    return last;
}

Payload Domain::json_of(int region) const {
    const Datum& sample = regions_[static_cast<std::size_t>(region)].sample;
    if (sample.is_null) return "null";
    const std::string text = predicate::text_of(seen_as_, predicate::view_of(sample));
    switch (type_) {
        case AttributeType::Boolean:
            return sample.integer != 0 ? "true" : "false";
        case AttributeType::Integer:
        case AttributeType::Document:
            return rules::coerce(type_, Json::parse(text, nullptr, false)).json;
        case AttributeType::Double:
            return rules::coerce(type_, Json(sample.real)).json;
        default:
            return rules::coerce(type_, Json(text)).json;
    }
}

}  // namespace ebb::rules_analysis
