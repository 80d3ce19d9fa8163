#include "sim/mutate.h"

#include <array>
#include <utility>

#include <nlohmann/json.hpp>

namespace ebb::sim {

namespace {

using test::Dice;
using Json = nlohmann::json;
using History = std::vector<HistoryEntry>;

constexpr std::array<std::string_view, kMutations> kNames = {
    "drop",
    "duplicate",
    "swap",
    "type",
    "node",
    "path",
    "visit",
    "attempt",
    "ref",
    "payload",
    "end",
    "status",
    "task"
};

template <class Change>
void renumber(History& history, Change change) {
    for (HistoryEntry& entry : history) entry.ref = change(entry.ref);
}

/// Something in the JSON becomes something else of the same kind.
void change_value(Json& value, Dice& dice) {
    if (value.is_structured() && !value.empty()) {
        auto it = value.begin();
        for (int i = dice.below(static_cast<int>(value.size())); i > 0; --i) ++it;
        return change_value(*it, dice);
    }
    if (value.is_number_integer()) {
        value = value.get<std::int64_t>() + 1;
    } else if (value.is_string()) {
        value = value.get<std::string>() + "x";
    } else if (value.is_boolean()) {
        value = !value.get<bool>();
    } else {
        value = 1;
    }
}

std::string other(const History& history, std::string HistoryEntry::* member, Dice& dice) {
    return dice.pick(history).*member;
}

/// What makes one entry another.
void change_entry(HistoryEntry& entry, const History& history, Mutation mutation, Dice& dice) {
    const int by = dice.chance(50) ? 1 : -1;
    switch (mutation) {
        case Mutation::Type:
            entry.type = other(history, &HistoryEntry::type, dice);
            return;
        case Mutation::Node:
            entry.node = other(history, &HistoryEntry::node, dice);
            return;
        case Mutation::Path:
            entry.path = other(history, &HistoryEntry::path, dice);
            return;
        case Mutation::Visit:
            entry.visit += by;
            return;
        case Mutation::Attempt:
            entry.attempt += by;
            return;
        case Mutation::Ref:
            entry.ref += by;
            return;
        default: {
            if (entry.payload.empty()) return;
            Json payload = Json::parse(entry.payload);
            change_value(payload, dice);
            entry.payload = payload.dump();
        }
    }
}

bool is_same(const HistoryEntry& a, const HistoryEntry& b) {
    return a.type == b.type && a.node == b.node && a.path == b.path && a.visit == b.visit &&
           a.attempt == b.attempt && a.ref == b.ref && a.payload == b.payload;
}

bool mutate_history(History& history, Mutation mutation, Dice& dice) {
    const int size = static_cast<int>(history.size());
    const auto index = static_cast<std::size_t>(dice.below(size));
    const std::int64_t seq = history[index].seq;
    switch (mutation) {
        case Mutation::Drop:
            drop_event(history, seq);
            return true;
        case Mutation::Duplicate:
            insert_event(history, seq + 1, history[index]);
            return true;
        case Mutation::Swap:
            if (seq == size) return false;
            swap_events(history, seq, seq + 1);
            return !is_same(history[index], history[index + 1]);
        case Mutation::End:
            if (seq == size) return false;
            history.resize(index + 1);
            return true;
        default: {
            const HistoryEntry before = history[index];
            change_entry(history[index], History(history), mutation, dice);
            return !is_same(before, history[index]);
        }
    }
}

bool mutate_status(Evidence& evidence, Dice& dice) {
    static const std::vector<std::string> kStatuses = {
        "running",
        "paused",
        "compensating",
        "dead_letter",
        "completed",
        "failed",
        "cancelled",
        "aborted"
    };
    const std::string before = std::exchange(evidence.status, dice.pick(kStatuses));
    return evidence.status != before;
}

}  // namespace

std::string_view to_string(Mutation mutation) {
    return kNames[static_cast<std::size_t>(mutation)];
}

void drop_event(History& history, std::int64_t seq) {
    history.erase(history.begin() + static_cast<std::ptrdiff_t>(seq) - 1);
    for (HistoryEntry& entry : history) entry.seq -= entry.seq > seq;
    renumber(history, [seq](std::int64_t ref) {
        if (ref == seq) return std::int64_t{0};
        return ref > seq ? ref - 1 : ref;
    });
}

void insert_event(History& history, std::int64_t seq, HistoryEntry entry) {
    entry.seq = seq;
    for (HistoryEntry& each : history) each.seq += each.seq >= seq;
    history.insert(history.begin() + static_cast<std::ptrdiff_t>(seq) - 1, std::move(entry));
    renumber(history, [seq](std::int64_t ref) { return ref >= seq ? ref + 1 : ref; });
}

void swap_events(History& history, std::int64_t a, std::int64_t b) {
    std::swap(history[static_cast<std::size_t>(a) - 1], history[static_cast<std::size_t>(b) - 1]);
    std::swap(
        history[static_cast<std::size_t>(a) - 1].seq, history[static_cast<std::size_t>(b) - 1].seq
    );
    renumber(history, [a, b](std::int64_t ref) {
        if (ref == a) return b;
        return ref == b ? a : ref;
    });
}

std::optional<Evidence> mutate(const Evidence& evidence, Mutation mutation, Dice& dice) {
    Evidence changed = evidence;
    bool has_changed = true;
    if (mutation == Mutation::Status) {
        has_changed = mutate_status(changed, dice);
    } else if (mutation == Mutation::Task) {
        changed.tasks_live += changed.tasks_live > 0 && dice.chance(50) ? -1 : 1;
    } else {
        has_changed = mutate_history(changed.history, mutation, dice);
    }
    return has_changed ? std::optional(std::move(changed)) : std::nullopt;
}

}  // namespace ebb::sim
