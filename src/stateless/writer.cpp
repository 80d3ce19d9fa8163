#include <array>
#include <utility>
#include <vector>

#include "core/kernel/state_text.h"
#include "stateless/codec.h"
#include "stateless/view.h"
#include "stateless/work.h"
#include "support/json_writer.h"

// Written by hand, because a function platform writes a snapshot after every step. Names of
// workflows and nodes are plain: a definition may have no others.

namespace ebb::stateless {

namespace {

std::int64_t to_milliseconds(TimePoint time) {
    return std::chrono::floor<std::chrono::milliseconds>(time).time_since_epoch().count();
}

class Writer {
 public:
    explicit Writer(const Snapshot::Data& data) : data_(data) {}

    std::string write() {
        out_.put('{');
        out_.number("formatVersion", kFormatVersion);
        out_.string("workflowId", data_.workflow_id);
        if (data_.state.run) out_.plain("runId", data_.state.run->to_string());
        workflow();
        out_.plain("status", to_string(status_of(data_.state)));
        current();
        context();
        out_.number("version", data_.version);
        out_.number("lastStartedAt", to_milliseconds(data_.last_started_at));
        total_time();
        out_.raw("metadata", data_.metadata);
        if (const auto retry = retry_state(data_)) write_retry(*retry);
        if (!data_.identity.key.empty()) out_.string("key", data_.identity.key);
        input();
        if (const NodeIndex start = start_node(data_); start != kNoNode) {
            out_.plain("startNodeId", data_.program().node(start).name);
        }
        result();
        out_.key("state");
        write_state(out_, data_.state, data_.program());
        events();
        out_.put('}');
        return out_.take();
    }

 private:
    void workflow() {
        const Definition& definition = data_.definition();
        out_.key("workflow");
        out_.put('{');
        out_.plain("name", definition.name);
        out_.number("version", definition.version);
        out_.plain("checksum", data_.workflow->checksum);
        out_.put('}');
    }

    void current() {
        const NodeIndex node = current_node(data_);
        out_.key("currentNodeId");
        if (node == kNoNode) {
            out_.raw("null");
        } else {
            out_.plain(data_.program().node(node).name);
        }
    }

    /// Milliseconds, and the microseconds as their fraction without zeros at its end.
    void total_time() {
        const std::int64_t total = data_.total_execution_time.count();
        out_.number("totalExecutionTime", total / 1'000);
        const auto fraction = static_cast<int>(total % 1'000);
        if (fraction == 0) return;
        const auto digit = [](int value) { return static_cast<char>('0' + value % 10); };
        const std::array<char, 4> digits{
            '.', digit(fraction / 100), digit(fraction / 10), digit(fraction)
        };
        const std::string_view text(digits.data(), digits.size());
        out_.raw(text.substr(0, text.find_last_not_of('0') + 1));
    }

    void write_retry(const RetryState& retry) {
        out_.key("retryState");
        out_.put('{');
        out_.plain("nodeId", retry.node);
        out_.number("attempts", retry.attempts);
        out_.number("nextRetryAt", to_milliseconds(retry.next_retry_at));
        out_.put('}');
    }

    void input() {
        const Kept* started = data_.record.find(1);
        out_.number("startedAt", started == nullptr ? 0 : to_milliseconds(started->at));
        out_.raw("input", started == nullptr ? "null" : started->payload.view());
    }

    void result() {
        if (const Payload output = output_of(data_); !output.empty()) out_.raw("output", output);
        if (const Payload error = error_of(data_); !error.empty()) out_.raw("error", error);
    }

    /// The results, by node in the order in which the nodes have first come to one.
    void context() {
        out_.key("context");
        out_.put('{');
        NodeIndex open = kNoNode;
        const auto write_one = [&](const Kept& event) {
            if (event.node != open) {
                if (open != kNoNode) out_.raw("],");
                out_.plain(data_.program().node(event.node).name);
                out_.raw(":[");
                open = event.node;
            } else {
                out_.put(',');
            }
            write_result(event);
        };
        is_by_node() ? each_shown(write_one) : each_by_node(write_one);
        if (open != kNoNode) out_.put(']');
        out_.put('}');
    }

    template <typename Visit>
    void each_shown(Visit visit) const {
        for (const Kept& event : data_.record.events()) {
            if (is_shown(event)) visit(event);
        }
    }

    /// Do the results of each node stand together? So they do where nothing goes back.
    bool is_by_node() const {
        NodeIndex last = kNoNode;
        bool rises = true;
        each_shown([&](const Kept& event) {
            rises = rises && std::exchange(last, event.node) <= event.node;
        });
        return rises;
    }

    template <typename Visit>
    void each_by_node(Visit visit) const {
        constexpr std::size_t kNone = static_cast<std::size_t>(-1);
        const auto all = data_.record.events();
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
            for (std::size_t i = first; i != kNone; i = next[i]) visit(all[i]);
        }
    }

    static bool is_shown(const Kept& event) {
        return !event.is_gone && event.node != kNoNode && is_result(event.type);
    }

    void write_result(const Kept& event) {
        if (!event.written.empty()) return out_.raw(event.written);
        out_.put('{');
        if (is_error(event.type)) {
            out_.raw("output", "null");
            out_.string("error", failure_message(event.payload.view()));
            out_.raw("failure", event.payload.view());
        } else {
            out_.raw("output", event.payload.view());
        }
        out_.number("timestamp", to_milliseconds(event.at));
        out_.number("attempt", event.attempt);
        out_.number("seq", event.seq);
        if (event.type != HistoryType::StepCompleted) out_.plain("type", to_string(event.type));
        place(event);
        out_.put('}');
    }

    void place(const Kept& event) {
        if (event.visit != 0) out_.number("visit", event.visit);
        if (event.ref != 0) out_.number("ref", event.ref);
        if (!event.path.empty()) out_.string("path", event.path);
        if (event.is_undoable) out_.raw("undoable", "true");
    }

    void events() {
        bool is_first = true;
        for (const Kept& event : data_.record.events()) {
            if (event.is_gone || event.seq == 1 || is_shown(event)) continue;
            if (std::exchange(is_first, false)) {
                out_.key("events");
                out_.put('[');
            } else {
                out_.put(',');
            }
            write_event(event);
        }
        if (!is_first) out_.put(']');
    }

    void write_event(const Kept& event) {
        out_.put('{');
        out_.number("seq", event.seq);
        out_.plain("type", to_string(event.type));
        if (event.node != kNoNode) out_.plain("node", data_.program().node(event.node).name);
        if (!event.payload.empty()) out_.raw("payload", event.payload.view());
        out_.number("timestamp", to_milliseconds(event.at));
        if (event.attempt != 0) out_.number("attempt", event.attempt);
        place(event);
        out_.put('}');
    }

    const Snapshot::Data& data_;
    JsonWriter out_;
};

}  // namespace

std::string write_snapshot(const Snapshot::Data& data) {
    return Writer(data).write();
}

}  // namespace ebb::stateless
