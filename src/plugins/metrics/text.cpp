#include "plugins/metrics/text.h"

#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string_view>

#include <fmt/format.h>

namespace ebb::metrics {

namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Every double that is an integer up to here has a text of digits only.
constexpr double kIntegerMax = 9'007'199'254'740'992;
/// What a line takes about.
constexpr std::size_t kLineBytes = 120;

std::string_view type_name(MetricType type) {
    switch (type) {
        case MetricType::Counter:
            return "counter";
        case MetricType::Gauge:
            return "gauge";
        case MetricType::Summary:
            return "summary";
        case MetricType::Histogram:
            return "histogram";
        case MetricType::Untyped:
            break;
    }
    return "untyped";
}

void add_number(std::string& out, double value) {
    if (std::isnan(value)) {
        out += "NaN";
    } else if (std::isinf(value)) {
        out += value > 0 ? "+Inf" : "-Inf";
    } else if (std::abs(value) < kIntegerMax && value == std::trunc(value)) {
        out += fmt::format_int(static_cast<std::int64_t>(value)).c_str();
    } else {
        fmt::format_to(std::back_inserter(out), "{}", value);
    }
}

void add_escaped(std::string& out, std::string_view text, bool escapes_quotes) {
    for (const char c : text) {
        if (c == '\n') {
            out += "\\n";
            continue;
        }
        if (c == '\\' || (escapes_quotes && c == '"')) out += '\\';
        out += c;
    }
}

/// The lines of one family.
class FamilyText {
 public:
    FamilyText(std::string& out, const MetricFamily& family) : out_(out), family_(family) {}

    void add() {
        out_ += "# HELP ";
        out_ += family_.name;
        out_ += ' ';
        add_escaped(out_, family_.help, false);
        out_ += "\n# TYPE ";
        out_ += family_.name;
        out_ += ' ';
        out_ += type_name(family_.type);
        out_ += '\n';
        for (const ClientMetric& metric : family_.metric) add(metric);
    }

 private:
    void add(const ClientMetric& metric) {
        labels_.clear();
        for (const ClientMetric::Label& label : metric.label) {
            if (!labels_.empty()) labels_ += ',';
            labels_ += label.name;
            labels_ += "=\"";
            add_escaped(labels_, label.value, true);
            labels_ += '"';
        }
        time_ms_ = metric.timestamp_ms;
        switch (family_.type) {
            case MetricType::Counter:
                return add_value("", metric.counter.value);
            case MetricType::Gauge:
                return add_value("", metric.gauge.value);
            case MetricType::Summary:
                return add_summary(metric.summary);
            case MetricType::Histogram:
                return add_histogram(metric.histogram);
            case MetricType::Untyped:
                return add_value("", metric.untyped.value);
        }
    }

    void add_summary(const ClientMetric::Summary& summary) {
        add_value("_count", static_cast<double>(summary.sample_count));
        add_value("_sum", summary.sample_sum);
        for (const auto& quantile : summary.quantile) {
            add_value("", quantile.value, "quantile", quantile.quantile);
        }
    }

    void add_histogram(const ClientMetric::Histogram& histogram) {
        const auto count = static_cast<double>(histogram.sample_count);
        add_value("_count", count);
        add_value("_sum", histogram.sample_sum);
        double last = 0;
        for (const auto& bucket : histogram.bucket) {
            last = bucket.upper_bound;
            add_value("_bucket", static_cast<double>(bucket.cumulative_count), "le", last);
        }
        if (histogram.bucket.empty() || last != kInfinity) {
            add_value("_bucket", count, "le", kInfinity);
        }
    }

    /// One line; `bound` is the value of one more label.
    void add_value(
        std::string_view suffix, double value, std::string_view bounded = {}, double bound = 0
    ) {
        out_ += family_.name;
        out_ += suffix;
        if (!labels_.empty() || !bounded.empty()) {
            out_ += '{';
            out_ += labels_;
            if (!bounded.empty()) {
                if (!labels_.empty()) out_ += ',';
                out_ += bounded;
                out_ += "=\"";
                add_number(out_, bound);
                out_ += '"';
            }
            out_ += '}';
        }
        out_ += ' ';
        add_number(out_, value);
        if (time_ms_ != 0) {
            out_ += ' ';
            out_ += fmt::format_int(time_ms_).c_str();
        }
        out_ += '\n';
    }

    std::string& out_;
    const MetricFamily& family_;
    std::string labels_;
    std::int64_t time_ms_ = 0;
};

std::size_t bytes_of(const std::vector<MetricFamily>& families) {
    std::size_t lines = 0;
    for (const MetricFamily& family : families) {
        lines += 2;
        for (const ClientMetric& metric : family.metric) {
            lines += 3 + metric.histogram.bucket.size() + metric.summary.quantile.size();
        }
    }
    return lines * kLineBytes;
}

}  // namespace

std::string text_of(const std::vector<MetricFamily>& families) {
    std::string out;
    out.reserve(bytes_of(families));
    for (const MetricFamily& family : families) FamilyText(out, family).add();
    return out;
}

}  // namespace ebb::metrics
