// Goal: the exporter never makes a caller wait, and counts what it could not send. Method: a
// collector in this process whose answers the test chooses.

#include "plugins/telemetry/exporter.h"

#include <latch>

#include <gmock/gmock.h>

#include <ebb/error.h>

namespace ebb::telemetry {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

constexpr Duration kLong = std::chrono::minutes(1);

std::vector<Span> spans(std::size_t count) {
    return std::vector<Span>(count, Span{.trace_id = "t", .id = "s", .name = "n"});
}

struct ExporterTest : ::testing::Test {
    TelemetryOptions options{.url = "http://127.0.0.1/", .queue_max = 10, .batch_max = 4};
    std::vector<std::size_t> sizes;
};

TEST_F(ExporterTest, Spans_are_sent_in_batches) {
    Exporter exporter(options, [&](std::span<const Span> sent, const auto&) {
        sizes.push_back(sent.size());
        return Answer::Accepted;
    });

    exporter.add(spans(4));
    ASSERT_TRUE(exporter.flush(kLong));
    exporter.add(spans(6));
    ASSERT_TRUE(exporter.flush(kLong));

    EXPECT_THAT(sizes, ElementsAre(4, 4, 2));
    EXPECT_EQ(exporter.counters().exported, 10U);
    EXPECT_EQ(exporter.counters().dropped, 0U);
}

TEST_F(ExporterTest, What_does_not_fit_into_the_queue_is_dropped_and_counted) {
    std::latch begun(1);
    std::latch goes_on(1);
    Exporter exporter(options, [&](std::span<const Span>, const auto&) {
        begun.count_down(begun.try_wait() ? 0 : 1);
        goes_on.wait();
        return Answer::Accepted;
    });
    exporter.add(spans(4));
    begun.wait();  // the batch is on its way, and the queue is empty

    exporter.add(spans(7));
    exporter.add(spans(7));

    EXPECT_EQ(exporter.counters().dropped, 4U);
    goes_on.count_down();
    ASSERT_TRUE(exporter.flush(kLong));
    EXPECT_EQ(exporter.counters().exported, 14U);
}

TEST_F(ExporterTest, A_refused_batch_is_not_sent_again) {
    int requests = 0;
    Exporter exporter(options, [&](std::span<const Span>, const auto&) {
        ++requests;
        return Answer::Refused;
    });

    exporter.add(spans(3));
    ASSERT_TRUE(exporter.flush(kLong));

    EXPECT_EQ(requests, 1);
    EXPECT_EQ(exporter.counters().dropped, 3U);
}

TEST_F(ExporterTest, A_collector_that_is_away_for_a_moment_gets_the_batch_later) {
    int requests = 0;
    const auto send = [&](std::span<const Span>, const auto&) {
        return ++requests == 1 ? Answer::NotNow : Answer::Accepted;
    };
    Exporter exporter(options, send, 1ms);

    exporter.add(spans(3));
    ASSERT_TRUE(exporter.flush(kLong));

    EXPECT_EQ(requests, 2);
    EXPECT_EQ(exporter.counters().exported, 3U);
}

TEST_F(ExporterTest, The_end_sends_what_is_left) {
    {
        Exporter exporter(options, [&](std::span<const Span> sent, const auto&) {
            sizes.push_back(sent.size());
            return Answer::Accepted;
        });
        exporter.add(spans(3));
    }
    EXPECT_THAT(sizes, ElementsAre(3));
}

TEST_F(ExporterTest, The_end_does_not_try_again) {
    int requests = 0;
    // Only the end sends what waits.
    options.pause = kLong;
    {
        Exporter exporter(options, [&](std::span<const Span>, const auto&) {
            ++requests;
            return Answer::NotNow;
        });
        exporter.add(spans(2));
    }
    EXPECT_EQ(requests, 1);
}

}  // namespace
}  // namespace ebb::telemetry
