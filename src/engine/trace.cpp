// The history of an instance with rules as its attributes tell it.

#include "engine/trace.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/rules/write.h"
#include "support/json.h"

namespace ebb {

std::string_view to_string(TraceEntry::Kind kind) {
    switch (kind) {
        case TraceEntry::Kind::Start:
            return "start";
        case TraceEntry::Kind::Transition:
            return "transition";
        case TraceEntry::Kind::ByHandler:
            return "handler";
        case TraceEntry::Kind::Outside:
            return "outside";
        case TraceEntry::Kind::Repair:
            return "repair";
        case TraceEntry::Kind::Failed:
            return "failure";
        case TraceEntry::Kind::Restore:
            return "restore";
        case TraceEntry::Kind::Resume:
            return "resume";
        case TraceEntry::Kind::Fired:
            return "fired";
        case TraceEntry::Kind::Migrated:
            return "migrated";
    }
    return {};
}

namespace engine {

struct Tracer::ConditionRef {
    std::string_view kind;
    const std::string* name = nullptr;
    const Predicate* when = nullptr;
};

namespace {

const Json* member(const Json& object, std::string_view name) {
    if (!object.is_object()) return nullptr;
    const auto found = object.find(name);
    return found == object.end() ? nullptr : &*found;
}

std::string text_of(const Json& object, std::string_view name) {
    const Json* text = member(object, name);
    return text != nullptr && text->is_string() ? text->get<std::string>() : std::string();
}

std::vector<std::string> texts_of(const Json& object, std::string_view name) {
    std::vector<std::string> texts;
    const Json* list = member(object, name);
    if (list == nullptr || !list->is_array()) return texts;
    for (const Json& text : *list) {
        if (text.is_string()) texts.push_back(text.get<std::string>());
    }
    return texts;
}

TraceEntry::Kind kind_of(const HistoryEvent& event, const Json& payload) {
    if (event.node == kExceptionStep) return TraceEntry::Kind::ByHandler;
    if (!event.node.empty()) return TraceEntry::Kind::Transition;
    if (member(payload, "resume") != nullptr) return TraceEntry::Kind::Resume;
    const Json* repair = member(payload, "repair");
    return repair != nullptr ? TraceEntry::Kind::Repair : TraceEntry::Kind::Outside;
}

}  // namespace

Tracer::Tracer(std::shared_ptr<const Program> program, Versions versions)
    : program_(std::move(program)),
      versions_(std::move(versions)),
      state_(program_->rules()->initial_state()) {
    truth_.resize(conditions().size(), false);
}

void Tracer::add(const HistoryEvent& event) {
    switch (event.type) {
        case HistoryType::Started:
            return start(event);
        case HistoryType::AttributesWritten:
            return write(event);
        case HistoryType::StateWritten:
            return fire(event);
        case HistoryType::StateRestored:
            return restore(event);
        case HistoryType::ExceptionRaised:
            return raise(event);
        case HistoryType::Migrated:
            return follow(event);
        default:
            return;
    }
}

std::vector<Tracer::ConditionRef> Tracer::conditions() const {
    const rules::Program& rules = *program_->rules();
    std::vector<ConditionRef> all;
    for (const auto& trigger : rules.triggers()) {
        all.push_back({"trigger", &trigger.name, &trigger.when});
    }
    const auto add_all = [&](std::string_view kind, const auto& named) {
        for (const auto& condition : named) {
            all.push_back({kind, &condition.name, &condition.when});
        }
    };
    add_all("final", rules.finals());
    add_all("exception", rules.exceptions());
    add_all("invariant", rules.invariants());
    add_all("savepoint", rules.savepoints());
    return all;
}

void Tracer::start(const HistoryEvent& event) {
    TraceEntry& entry = append(event, TraceEntry::Kind::Start);
    entry.by = event.worker;
    rules::Outcome outcome = rules::write(
        *program_->rules(),
        state_,
        {.source = rules::Write::Source::Start, .values = event.payload, .seq = event.seq}
    );
    for (const rules::Outcome::Change& each : outcome.changes) {
        const auto at = static_cast<std::size_t>(each.attribute);
        change(
            entry, program_->rules()->rules().attributes[at].name, outcome.state.values[at].json
        );
    }
    for (const int trigger : outcome.fired) {
        entry.fired.push_back(program_->rules()->triggers()[static_cast<std::size_t>(trigger)].name
        );
    }
    for (const int trigger : outcome.armed) {
        entry.armed.push_back(program_->rules()->triggers()[static_cast<std::size_t>(trigger)].name
        );
    }
    if (outcome.final_condition >= 0) {
        const auto at = static_cast<std::size_t>(outcome.final_condition);
        entry.final_condition = program_->rules()->finals()[at].name;
    }
    finish(entry);
}

void Tracer::write(const HistoryEvent& event) {
    const Json payload = Json::parse(event.payload, nullptr, false);
    TraceEntry& entry = append(event, kind_of(event, payload));
    entry.by = text_of(payload, "by");
    entry.fired = texts_of(payload, "fired");
    entry.armed = texts_of(payload, "armed");
    entry.final_condition = text_of(payload, "final");
    if (const Json* values = member(payload, "values"); values != nullptr && values->is_object()) {
        for (const auto& [name, value] : values->items()) change(entry, name, to_text(value));
    }
    for (const std::string& name : texts_of(payload, "overwrote")) {
        for (TraceEntry::Change& each : entry.changes) {
            if (each.attribute == name) each.has_overwritten = true;
        }
    }
    finish(entry);
}

/// A state without a name is that of a write, whose entry shows it.
void Tracer::fire(const HistoryEvent& event) {
    if (event.node.empty()) return;
    TraceEntry& entry = append(event, TraceEntry::Kind::Fired);
    entry.fired.push_back(event.node);
    finish(entry);
}

void Tracer::restore(const HistoryEvent& event) {
    const Json payload = Json::parse(event.payload, nullptr, false);
    TraceEntry& entry = append(event, TraceEntry::Kind::Restore);
    if (const Json* values = member(payload, "values"); values != nullptr && values->is_object()) {
        for (const auto& [name, value] : values->items()) change(entry, name, to_text(value));
    }
    finish(entry);
}

void Tracer::raise(const HistoryEvent& event) {
    const std::string code = text_of(Json::parse(event.payload, nullptr, false), "code");
    const bool is_of_last = !entries_.empty() && entries_.back().seq == event.ref;
    if (is_of_last) {
        entries_.back().exception = code;
        return;
    }
    TraceEntry& entry = append(event, TraceEntry::Kind::Failed);
    entry.exception = code;
    finish(entry);
}

void Tracer::follow(const HistoryEvent& event) {
    const Json payload = Json::parse(event.payload, nullptr, false);
    const Json* to = member(payload, "to");
    const bool is_version = to != nullptr && to->is_number_integer();
    const auto next = is_version ? versions_(to->get<int>()) : nullptr;
    if (next == nullptr || next->rules() == nullptr) return;
    std::map<std::string, Payload> before;
    const auto& were = program_->rules()->rules().attributes;
    for (std::size_t i = 0; i < were.size(); ++i) before[were[i].name] = state_.values[i].json;
    std::map<std::string, bool> truth;
    const auto key_of = [](const ConditionRef& ref) {
        return std::string(ref.kind) + " " + *ref.name;
    };
    const std::vector<ConditionRef> asked = conditions();
    for (std::size_t i = 0; i < asked.size(); ++i) truth[key_of(asked[i])] = truth_[i];
    TraceEntry& entry = append(event, TraceEntry::Kind::Migrated);
    program_ = next;
    state_ = next->rules()->initial_state();
    const auto& attributes = next->rules()->rules().attributes;
    for (std::size_t i = 0; i < attributes.size(); ++i) {
        auto known = before.find(attributes[i].name);
        for (const std::string& earlier : attributes[i].renamed_from) {
            if (known == before.end()) known = before.find(earlier);
        }
        if (known != before.end()) state_.values[i].json = known->second;
    }
    if (const Json* values = member(payload, "values"); values != nullptr && values->is_object()) {
        for (const auto& [name, value] : values->items()) change(entry, name, to_text(value));
    }
    // Another name or type alone does not change the value.
    std::erase_if(entry.changes, [](const TraceEntry::Change& each) {
        return each.before == each.after;
    });
    truth_.clear();
    for (const ConditionRef& ref : conditions()) truth_.push_back(truth[key_of(ref)]);
    finish(entry);
}

TraceEntry& Tracer::append(const HistoryEvent& event, TraceEntry::Kind kind) {
    TraceEntry entry;
    entry.seq = event.seq;
    entry.kind = kind;
    entry.transition = event.node;
    entry.at = event.at;
    return entries_.emplace_back(std::move(entry));
}

void Tracer::change(TraceEntry& entry, const std::string& name, Payload value) {
    const int index = program_->rules()->find_attribute(name);
    if (index < 0) return;
    Payload& current = state_.values[static_cast<std::size_t>(index)].json;
    entry.changes.push_back({.attribute = name, .before = current, .after = value});
    current = std::move(value);
}

void Tracer::finish(TraceEntry& entry) {
    entry.attributes = program_->rules()->state_text(state_);
    const predicate::Row row = program_->rules()->row_of(state_);
    const std::vector<ConditionRef> all = conditions();
    for (std::size_t i = 0; i < all.size(); ++i) {
        bool is_true = false;
        try {
            is_true = all[i].when->holds(row);
        } catch (const PredicateError&) {
            // A condition that fails on a value is not true.
        }
        if (is_true == truth_[i]) continue;
        truth_[i] = is_true;
        entry.turns.push_back(
            {.kind = std::string(all[i].kind), .name = *all[i].name, .is_true = is_true}
        );
    }
}

}  // namespace engine
}  // namespace ebb
