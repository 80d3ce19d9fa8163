// The text of metrics: the same as prometheus-cpp's own serializer writes.

#include "plugins/metrics/text.h"

#include <limits>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

namespace ebb::metrics {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string reference(const std::vector<MetricFamily>& families) {
    std::ostringstream text;
    prometheus::TextSerializer().Serialize(text, families);
    return std::move(text).str();
}

MetricFamily family(MetricType type, std::vector<ClientMetric> metrics) {
    return {.name = "name", .help = "What it is.", .type = type, .metric = std::move(metrics)};
}

ClientMetric labelled(std::vector<ClientMetric::Label> labels) {
    ClientMetric metric;
    metric.label = std::move(labels);
    return metric;
}

ClientMetric counted(double value) {
    ClientMetric metric = labelled({{"workflow", "order"}});
    metric.counter.value = value;
    return metric;
}

void expect_as_reference(const std::vector<MetricFamily>& families) {
    EXPECT_EQ(text_of(families), reference(families));
}

TEST(MetricsText, numbers_are_integers_fractions_and_words) {
    expect_as_reference({family(
        MetricType::Counter,
        {counted(0),
         counted(1),
         counted(-3),
         counted(0.25),
         counted(1'234'567),
         counted(kInfinity),
         counted(-kInfinity)}
    )});
    const double none = std::numeric_limits<double>::quiet_NaN();
    EXPECT_TRUE(text_of({family(MetricType::Counter, {counted(none)})}).ends_with(" NaN\n"));
}

TEST(MetricsText, a_number_is_read_back_exactly) {
    for (const double value : {0.1, 1.0 / 3, 1e-9, 1.5e300, 9'007'199'254'740'993.0, 1e15 + 0.5}) {
        const std::string text = text_of({family(MetricType::Counter, {counted(value)})});
        const std::string last = text.substr(text.rfind(' ') + 1);
        EXPECT_EQ(std::stod(last), value) << text;
    }
}

TEST(MetricsText, labels_are_escaped) {
    ClientMetric hostile = labelled({{"a", "quote \" backslash \\ line\nend"}, {"b", ""}});
    hostile.gauge.value = 7;
    expect_as_reference({family(MetricType::Gauge, {labelled({}), hostile})});
}

TEST(MetricsText, help_stays_on_its_line) {
    MetricFamily gauge = family(MetricType::Gauge, {labelled({})});
    gauge.help = "one\ntwo \\ \"three\"";
    EXPECT_EQ(
        text_of({gauge}), "# HELP name one\\ntwo \\\\ \"three\"\n# TYPE name gauge\nname 0\n"
    );
}

TEST(MetricsText, histograms_end_with_an_infinite_bucket) {
    ClientMetric open = labelled({{"step", "charge"}});
    open.histogram = {.sample_count = 5, .sample_sum = 1.5, .bucket = {{2, 0.005}, {4, 10}}};
    ClientMetric closed = labelled({});
    closed.histogram = {.sample_count = 5, .sample_sum = 1.5, .bucket = {{2, 1}, {5, kInfinity}}};
    ClientMetric without = labelled({});
    without.histogram = {.sample_count = 1, .sample_sum = 2, .bucket = {}};
    expect_as_reference({family(MetricType::Histogram, {open, closed, without})});
}

TEST(MetricsText, summaries_and_untyped_values_have_lines) {
    ClientMetric summary = labelled({{"a", "b"}});
    summary.summary = {.sample_count = 3, .sample_sum = 6, .quantile = {{0.5, 2}, {0.75, 3}}};
    ClientMetric untyped = labelled({});
    untyped.untyped.value = 4;
    untyped.timestamp_ms = 1'700'000'000'123;
    expect_as_reference({
        family(MetricType::Summary, {summary}),
        family(MetricType::Untyped, {untyped}),
    });
}

}  // namespace
}  // namespace ebb::metrics
