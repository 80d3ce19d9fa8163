#pragma once

#include <string>
#include <vector>

#include <prometheus/metric_family.h>

namespace ebb::metrics {

/// The families in Prometheus' text format 0.0.4. prometheus-cpp's own serializer writes each value
/// through a stream and the labels again for each bucket: with some 100,000 lines that is most of
/// the time of a scrape.
std::string text_of(const std::vector<prometheus::MetricFamily>& families);

}  // namespace ebb::metrics
