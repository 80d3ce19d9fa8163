#include "plugins/telemetry/exporter.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <ebb/log.h>

namespace ebb::telemetry {

namespace {

using Steady = std::chrono::steady_clock;

}  // namespace

Exporter::Exporter(const TelemetryOptions& options, Send send, Duration backoff)
    : options_(options), send_(std::move(send)), backoff_(backoff) {
    thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

Exporter::~Exporter() {
    {
        const Lock lock(mutex_);
        is_ending_ = true;
    }
    changed_.notify_all();
    flush(options_.timeout);
    thread_.request_stop();
    changed_.notify_all();
    thread_.join();
}

void Exporter::add(std::vector<Span> spans) {
    if (spans.empty()) return;
    std::uint64_t dropped = 0;
    bool begins_to_drop = false;
    {
        const Lock lock(mutex_);
        const std::size_t room = options_.queue_max - std::min(options_.queue_max, queue_.size());
        const std::size_t taken = std::min(room, spans.size());
        const auto end = spans.begin() + static_cast<std::ptrdiff_t>(taken);
        std::move(spans.begin(), end, std::back_inserter(queue_));
        dropped = spans.size() - taken;
        counters_.dropped += dropped;
        begins_to_drop = dropped > 0 && !was_full_;
        was_full_ = dropped > 0;
    }
    changed_.notify_one();
    if (begins_to_drop) warn(dropped);
}

bool Exporter::flush(Duration most) {
    const auto end = Steady::now() + most;
    Lock lock(mutex_);
    is_flushing_ = true;
    changed_.notify_all();
    while (!queue_.empty() || is_sending_) {
        const auto left = end - Steady::now();
        if (left <= Steady::duration::zero()) return false;
        sent_.wait_for(lock, left);
    }
    return true;
}

TelemetryCounters Exporter::counters() const {
    const Lock lock(mutex_);
    return counters_;
}

void Exporter::work(const std::stop_token& stop) {
    Lock lock(mutex_);
    while (!stop.stop_requested()) {
        wait_for_batch(lock);
        if (!queue_.empty()) {
            const std::vector<Span> batch = take_batch();
            is_sending_ = true;
            lock.unlock();
            const bool is_accepted = send(batch, stop) == Answer::Accepted;
            if (!is_accepted) warn(batch.size());
            lock.lock();
            is_sending_ = false;
            (is_accepted ? counters_.exported : counters_.dropped) += batch.size();
        }
        if (!queue_.empty()) continue;
        is_flushing_ = false;
        sent_.notify_all();
        if (is_ending_) return;
    }
    counters_.dropped += queue_.size();
    queue_.clear();
    sent_.notify_all();
}

/// Waits until spans are there that need not wait for others.
void Exporter::wait_for_batch(Lock& lock) {
    while (queue_.empty() && !is_flushing_ && !is_ending_) changed_.wait(lock);
    const auto end = Steady::now() + options_.pause;
    while (queue_.size() < options_.batch_max && !is_flushing_ && !is_ending_) {
        const auto left = end - Steady::now();
        if (left <= Steady::duration::zero()) return;
        changed_.wait_for(lock, left);
    }
}

std::vector<Span> Exporter::take_batch() {
    const auto count = std::min(queue_.size(), options_.batch_max);
    const auto end = queue_.begin() + static_cast<std::ptrdiff_t>(count);
    std::vector<Span> batch(std::make_move_iterator(queue_.begin()), std::make_move_iterator(end));
    queue_.erase(queue_.begin(), end);
    return batch;
}

/// Tries again while the collector asks for it, until the exporter ends.
Answer Exporter::send(const std::vector<Span>& batch, const std::stop_token& stop) {
    Duration pause = backoff_;
    for (int tries = 1;; ++tries) {
        const Answer answer = send_(batch, stop);
        if (answer != Answer::NotNow || tries == kTriesMax) return answer;
        const auto until = Steady::now() + pause;
        Lock lock(mutex_);
        while (!is_ending_ && Steady::now() < until) {
            changed_.wait_for(lock, until - Steady::now());
        }
        if (is_ending_) return answer;
        pause *= 2;
    }
}

void Exporter::warn(std::uint64_t dropped) const {
    if (options_.log == nullptr) return;
    const std::vector<LogField> fields{{"spans", dropped}, {"url", options_.url}};
    options_.log->write(LogLevel::Warning, "spans_dropped", fields);
}

}  // namespace ebb::telemetry
