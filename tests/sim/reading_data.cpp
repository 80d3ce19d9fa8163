// The data that nodes work on: every output reaches the right place and decides what follows.

#include <algorithm>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "sim/reading.h"

namespace ebb::sim {

/// An event without a payload passes on the payload of the event that it refers to.
Json Reading::data_of(std::int64_t seq) const {
    while (true) {
        const auto found = entries_.find(seq);
        require(found != entries_.end(), fmt::format("there is no event {} before it", seq));
        if (!found->second->payload.empty()) return payload(*found->second);
        seq = found->second->ref;
    }
}

Facts Reading::facts_for(const Strand& strand) const {
    const std::int64_t moved = strand.moved;
    return {
        .input = data_of(strand.data),
        .workflow_input = data_of(1),
        .output_of = [this, moved](const std::string& step) -> Value {
            const FlowNode* node = flow_.find(step);
            if (node == nullptr || node->kind != "step") return {};
            const auto outputs = outputs_.find(step);
            if (outputs == outputs_.end()) return {.kind = Value::Kind::Wrong};
            const auto& events = outputs->second;
            const auto after = std::upper_bound(events.begin(), events.end(), moved);
            if (after == events.begin()) return {.kind = Value::Kind::Wrong};
            return {.kind = Value::Kind::Known, .value = data_of(*std::prev(after))};
        }
    };
}

Value Reading::ask(const Strand& strand, const std::string& expression) const {
    return evaluate(expression, facts_for(strand));
}

/// The value that the `next` of a step yields.
Value Reading::handle_asked(const Strand& strand, const Json& output) const {
    if (!strand.at->body.contains("next")) return {.kind = Value::Kind::Known, .value = nullptr};
    Facts facts = facts_for(strand);
    facts.output = output;
    return evaluate(strand.at->body.at("next").get<std::string>(), facts);
}

/// The edge that a condition or switch must take; empty: it fails, or the checker cannot know.
std::string Reading::side_of(const Strand& strand) const {
    const Json& body = strand.at->body;
    if (strand.at->kind == "condition") {
        const Value value = ask(strand, body.at("when").get<std::string>());
        if (!value.is_known()) return {};
        return value.is_true() ? "then" : "else";
    }
    int number = 0;
    for (const Json& each : body.at("cases")) {
        ++number;
        const Value value = ask(strand, each.at("when").get<std::string>());
        if (!value.is_known()) return {};
        if (value.is_true()) return "case " + std::to_string(number);
    }
    return "default";
}

/// May the loop at the strand's position begin another turn?
bool Reading::may_turn(const Strand& strand) const {
    const Json& body = strand.at->body;
    const auto turns = strand.turns.find(strand.at);
    const bool is_first = turns == strand.turns.end() || turns->second == 0;
    const bool is_until = body.contains("until");
    if (is_until && is_first) return true;
    const Value value = ask(strand, body.at(is_until ? "until" : "while").get<std::string>());
    if (value.kind == Value::Kind::Unread) return true;
    return value.is_known() && value.is_true() != is_until;
}

bool Reading::may_finish(const Strand& strand) const {
    const Json& body = strand.at->body;
    const bool is_until = body.contains("until");
    const Value value = ask(strand, body.at(is_until ? "until" : "while").get<std::string>());
    if (value.kind == Value::Kind::Unread) return true;
    return value.is_known() && value.is_true() == is_until;
}

void Reading::require_data(const Strand& strand, const Entry& e) const {
    require(e.ref == strand.data, fmt::format("its data is that of event {}", strand.data));
}

void Reading::on_input_resolved(const Entry& e) {
    Strand& strand = strand_of(e);
    const bool is_of_operator =
        strand.is_requeued && (strand.visit == e.visit || visits_.contains(e.visit));
    require(e.ref == 0, "it must not refer to an event");
    if (!is_of_operator) {
        Strand& here = arrive(e, "step");
        require(e.attempt == 0, "nothing was attempted yet");
        check_arrival(here);
        require(here.at->body.contains("input"), "it has no template");
        require(!here.is_resolved, "it is already resolved");
        const Value value = render(here.at->body.at("input"), facts_for(here));
        const bool is_right = !value.is_known() || value.value == payload(e);
        require(value.kind != Value::Kind::Wrong, "its template cannot be evaluated");
        require(is_right, "its template yields something else");
        here.is_resolved = true;
    } else {
        const int attempts = strand.visit == e.visit ? strand.attempt - 1 : 0;
        require(e.attempt == attempts, fmt::format("{} attempts were made", attempts));
        require(strand.at == nullptr || strand.at->name == e.node, "the strand is elsewhere");
    }
    strand.is_requeued = false;
    strand.data = e.seq;
}

/// Called before a handler is called.
void Reading::check_resolved(const Strand& strand) const {
    require(
        strand.is_resolved || !strand.at->body.contains("input"), "its input was never resolved"
    );
}

/// The concurrency_key of a step: a text, a number, a bool or null, of at most 256 bytes.
Value Reading::key_of(const Strand& strand) const {
    const Json& body = strand.at->body;
    if (!body.contains("concurrency_key")) return {.kind = Value::Kind::Known, .value = nullptr};
    const Value key = ask(strand, body.at("concurrency_key").get<std::string>());
    if (!key.is_known()) return key;
    const std::string text =
        key.value.is_string() ? key.value.get<std::string>() : key.value.dump();
    const bool is_fitting =
        !key.value.is_structured() && text.size() <= 256 && text.find('\0') == std::string::npos;
    return is_fitting ? key : Value{.kind = Value::Kind::Wrong};
}

/// Does the node at the strand's position really fail?
void Reading::check_expression_error(const Strand& strand) const {
    const Json& body = strand.at->body;
    Value value;
    if (strand.at->kind == "step") {
        value = render(body.value("input", Json()), facts_for(strand));
        if (value.is_known()) value = key_of(strand);
    }
    if (strand.at->kind == "condition") value = ask(strand, body.at("when").get<std::string>());
    if (strand.at->kind == "loop") {
        value = ask(strand, body.at(body.contains("until") ? "until" : "while").get<std::string>());
    }
    require(!value.is_known(), "its expression can be evaluated");
}

void Reading::check_due(const Strand& strand, const Entry& e, const std::string& duration) const {
    if (duration.empty()) return require(e.payload.empty(), "it has no deadline");
    std::int64_t wait = milliseconds(duration);
    if (duration.find('$') != std::string::npos) {
        const Value value = render(duration, facts_for(strand));
        if (!value.is_known() || !value.value.is_number_integer()) return;
        wait = value.value.get<std::int64_t>() * 1'000;
    }
    const TimePoint due = e.at + std::chrono::milliseconds(wait);
    const auto seconds = std::chrono::floor<std::chrono::seconds>(due);
    std::string text = fmt::format("{:%Y-%m-%dT%H:%M:%S}", fmt::gmtime(seconds));
    const auto rest = std::chrono::duration_cast<std::chrono::microseconds>(due - seconds).count();
    if (rest != 0) {
        text += fmt::format(".{:06}", rest);
        text.erase(text.find_last_not_of('0') + 1);
    }
    require(payload(e) == Json{{"due", text + "Z"}}, "it is due at " + text);
}

/// The output of the instance.
void Reading::check_output(const Entry& e) const {
    const Strand& strand = strands_.at("");
    if (!flow_.has_output()) return require_data(strand, e);
    require(e.ref == 0, "it has data of its own");
    const Value value = render(flow_.output(), facts_for(strand));
    require(value.kind != Value::Kind::Wrong, "its output cannot be evaluated");
    require(!value.is_known() || value.value == payload(e), "its output is wrong");
}

}  // namespace ebb::sim
