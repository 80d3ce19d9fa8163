#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <stop_token>
#include <thread>
#include <vector>

#include <ebb/telemetry.h>

#include "plugins/telemetry/spans.h"
#include "support/sync.h"

namespace ebb::telemetry {

/// The outcome of a request.
enum class Answer {
    Accepted,
    Refused,  ///< repeating it would not help
    NotNow,
};

/// Keeps spans until a thread of its own has sent them. Nothing here makes a caller wait for the
/// collector. Thread-safe.
class Exporter {
 public:
    static constexpr int kTriesMax = 5;
    static constexpr Duration kBackoff = std::chrono::seconds(1);  ///< doubled with each try

    /// Sends a batch; called by one thread at a time. It must return soon after `stop`.
    using Send = std::function<Answer(std::span<const Span> spans, const std::stop_token& stop)>;

    Exporter(const TelemetryOptions& options, Send send, Duration backoff = kBackoff);
    ~Exporter();

    Exporter(const Exporter&) = delete;
    Exporter& operator=(const Exporter&) = delete;

    void add(std::vector<Span> spans);
    /// False: `most` has passed before all was sent or dropped.
    bool flush(Duration most);
    TelemetryCounters counters() const;

 private:
    void work(const std::stop_token& stop);
    void wait_for_batch(Lock& lock) EBB_REQUIRES(mutex_);
    std::vector<Span> take_batch() EBB_REQUIRES(mutex_);
    Answer send(const std::vector<Span>& batch, const std::stop_token& stop) EBB_EXCLUDES(mutex_);
    void warn(std::uint64_t dropped) const;

    const TelemetryOptions options_;
    const Send send_;
    const Duration backoff_;
    mutable Mutex mutex_;
    CondVar changed_;
    CondVar sent_;
    std::deque<Span> queue_ EBB_GUARDED_BY(mutex_);
    bool is_sending_ EBB_GUARDED_BY(mutex_) = false;
    bool is_flushing_ EBB_GUARDED_BY(mutex_) = false;
    bool is_ending_ EBB_GUARDED_BY(mutex_) = false;
    bool was_full_ EBB_GUARDED_BY(mutex_) = false;
    TelemetryCounters counters_ EBB_GUARDED_BY(mutex_);
    std::jthread thread_;  // last: it uses all of the above
};

}  // namespace ebb::telemetry
