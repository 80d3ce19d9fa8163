#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "stateless/codec.h"
#include "stateless/view.h"
#include "stateless/work.h"
#include "support/json.h"

// Written by hand, because a function platform writes a snapshot after every step.

namespace ebb::stateless {

namespace {

std::int64_t to_milliseconds(TimePoint time) {
    return std::chrono::floor<std::chrono::milliseconds>(time).time_since_epoch().count();
}

class Writer {
 public:
    explicit Writer(const Snapshot::Data& data) : data_(data) { out_.reserve(1'024); }

    std::string write() {
        out_ += '{';
        number("formatVersion", kFormatVersion);
        text("workflowId", data_.workflow_id);
        workflow();
        text("status", to_string(status_of(data_.state)));
        const NodeIndex node = current_node(data_);
        key("currentNodeId");
        node == kNoNode ? void(out_ += "null") : string(data_.program().node(node).name);
        context();
        number("version", data_.version);
        number("lastStartedAt", to_milliseconds(data_.last_started_at));
        total_time();
        raw("metadata", data_.metadata);
        if (const auto retry = retry_state(data_)) write_retry(*retry);
        if (!data_.identity.key.empty()) text("key", data_.identity.key);
        write_input();
        write_result();
        raw("state", encode_state(data_.state, data_.program()));
        events();
        out_ += '}';
        return std::move(out_);
    }

 private:
    void key(std::string_view name) {
        if (out_.back() != '{') out_ += ',';
        out_ += '"';
        out_ += name;
        out_ += "\":";
    }

    void string(std::string_view value) { append_json_string(out_, value); }

    void text(std::string_view name, std::string_view value) {
        key(name);
        string(value);
    }

    void number(std::string_view name, std::int64_t value) {
        key(name);
        append_number(out_, value);
    }

    void raw(std::string_view name, std::string_view json) {
        key(name);
        out_ += json;
    }

    void workflow() {
        const Definition& definition = data_.definition();
        key("workflow");
        out_ += '{';
        text("name", definition.name);
        number("version", definition.version);
        text("checksum", data_.workflow->checksum);
        out_ += '}';
    }

    void total_time() {
        const std::int64_t total = data_.total_execution_time.count();
        key("totalExecutionTime");
        append_number(out_, total / 1'000);
        // Milliseconds, and the microseconds as their fraction without zeros at its end.
        std::int64_t fraction = total % 1'000;
        if (fraction == 0) return;
        int digits = 3;
        while (fraction % 10 == 0) {
            fraction /= 10;
            --digits;
        }
        fmt::format_to(std::back_inserter(out_), ".{:0{}}", fraction, digits);
    }

    void write_retry(const RetryState& retry) {
        key("retryState");
        out_ += '{';
        text("nodeId", retry.node);
        number("attempts", retry.attempts);
        number("nextRetryAt", to_milliseconds(retry.next_retry_at));
        out_ += '}';
    }

    void write_input() {
        const Kept* started = data_.record.find(1);
        number("startedAt", started == nullptr ? 0 : to_milliseconds(started->at));
        raw("input", started == nullptr ? "null" : std::string_view(started->payload));
    }

    void write_result() {
        const Payload output = output_of(data_);
        const Payload error = error_of(data_);
        if (!output.empty()) raw("output", output);
        if (!error.empty()) raw("error", error);
    }

    /// The results, by node in the order in which the nodes have first come to one.
    void context() {
        key("context");
        out_ += '{';
        const auto all = data_.record.events();
        constexpr std::size_t kNone = static_cast<std::size_t>(-1);
        std::vector<std::size_t> next(all.size(), kNone);
        std::vector<std::size_t> last(data_.program().nodes().size(), kNone);
        std::vector<std::size_t> firsts;
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (!is_shown(all[i])) continue;
            std::size_t& tail = last[static_cast<std::size_t>(all[i].node)];
            if (tail == kNone) {
                firsts.push_back(i);
            } else {
                next[tail] = i;
            }
            tail = i;
        }
        for (const std::size_t first : firsts) {
            if (out_.back() != '{') out_ += ',';
            string(data_.program().node(all[first].node).name);
            out_ += ":[";
            for (std::size_t i = first; i != kNone; i = next[i]) {
                if (i != first) out_ += ',';
                result(all[i]);
            }
            out_ += ']';
        }
        out_ += '}';
    }

    static bool is_shown(const Kept& event) {
        return !event.is_gone && event.node != kNoNode && is_result(event.type);
    }

    void result(const Kept& event) {
        out_ += '{';
        if (is_error(event.type)) {
            raw("output", "null");
            text("error", failure_message(event.payload));
            raw("failure", event.payload);
        } else {
            raw("output", event.payload);
        }
        number("timestamp", to_milliseconds(event.at));
        number("attempt", event.attempt);
        number("seq", event.seq);
        if (event.type != HistoryType::StepCompleted) text("type", to_string(event.type));
        place(event);
        out_ += '}';
    }

    void place(const Kept& event) {
        if (event.visit != 0) number("visit", event.visit);
        if (event.ref != 0) number("ref", event.ref);
        if (!event.path.empty()) text("path", event.path);
        if (event.is_undoable) raw("undoable", "true");
    }

    void events() {
        bool is_first = true;
        for (const Kept& event : data_.record.events()) {
            if (event.is_gone || event.seq == 1 || is_shown(event)) continue;
            if (std::exchange(is_first, false)) {
                key("events");
                out_ += '[';
            } else {
                out_ += ',';
            }
            write_event(event);
        }
        if (!is_first) out_ += ']';
    }

    void write_event(const Kept& event) {
        out_ += '{';
        number("seq", event.seq);
        text("type", to_string(event.type));
        if (event.node != kNoNode) text("node", data_.program().node(event.node).name);
        if (!event.payload.empty()) raw("payload", event.payload);
        number("timestamp", to_milliseconds(event.at));
        if (event.attempt != 0) number("attempt", event.attempt);
        place(event);
        out_ += '}';
    }

    const Snapshot::Data& data_;
    std::string out_;
};

}  // namespace

std::string write_snapshot(const Snapshot::Data& data) {
    return Writer(data).write();
}

}  // namespace ebb::stateless
