#include "engine/history_reader.h"

#include <algorithm>

#include <fmt/format.h>

#include <ebb/error.h>

namespace ebb::engine {

namespace {

/// How many undoable events a rollback reads at once: payloads come along, so not too many.
constexpr int kChunkEvents = 16;
constexpr int kPageEvents = 1'000;

constexpr HistoryType kUndoable[] = {
    HistoryType::StepCompleted,
    HistoryType::StepFailed,
    HistoryType::StepStopped,
    HistoryType::AttributesWritten
};

std::vector<HistoryType> types_that(bool (*is_wanted)(HistoryType)) {
    std::vector<HistoryType> types;
    for (int i = 0; i <= static_cast<int>(HistoryType::Aborted); ++i) {
        if (is_wanted(static_cast<HistoryType>(i))) types.push_back(static_cast<HistoryType>(i));
    }
    return types;
}

/// Is the payload that of another event? A ref always points back, so following refs ends.
bool refers(const HistoryEvent& event) {
    return event.payload.empty() && event.ref != 0 && event.ref < event.seq;
}

}  // namespace

HistoryEvent read_event(Store& store, const InstanceId& id, Seq seq) {
    const auto events = store.history({
        .instance = id,
        .after = seq - 1,
        .before = seq + 1,
        .limit = 1,
        .order = HistoryQuery::Order::Forward,
        .types = {},
        .node = {},
    });
    if (events.empty()) {
        throw Error(
            ErrorCode::CorruptState,
            fmt::format("The history of instance {} lacks its event {}.", id.to_string(), seq)
        );
    }
    return events.front();
}

Payload read_payload(Store& store, const InstanceId& id, Seq seq) {
    HistoryEvent event = read_event(store, id, seq);
    while (refers(event)) event = read_event(store, id, event.ref);
    return event.payload.empty() ? Payload("null") : event.payload;
}

const HistoryEvent* HistoryReader::find_pending(Seq seq) const {
    if (pending_.empty() || seq < pending_.front().seq || seq > pending_.back().seq) return nullptr;
    return &pending_[static_cast<std::size_t>(seq - pending_.front().seq)];
}

const HistoryEvent* HistoryReader::find_known(Seq seq) const {
    if (const HistoryEvent* pending = find_pending(seq)) return pending;
    if (const HistoryEvent* recent = live_.recent.find(seq)) return recent;
    const auto prepared = prepared_.find(seq);
    return prepared == prepared_.end() ? nullptr : &prepared->second;
}

/// The events that payload() would read from the store next, each once.
std::vector<Seq> HistoryReader::unknown_of(const std::vector<Seq>& seqs) const {
    std::vector<Seq> unknown;
    for (Seq seq : seqs) {
        const HistoryEvent* known = find_known(seq);
        while (known != nullptr && refers(*known)) {
            seq = known->ref;
            known = find_known(seq);
        }
        if (known == nullptr) unknown.push_back(seq);
    }
    std::sort(unknown.begin(), unknown.end());
    unknown.erase(std::unique(unknown.begin(), unknown.end()), unknown.end());
    return unknown;
}

void HistoryReader::prepare(const std::vector<Seq>& seqs) const {
    // payload() reads a single event as well.
    constexpr std::size_t kWorthwhile = 2;
    for (auto unknown = unknown_of(seqs); unknown.size() >= kWorthwhile;) {
        const auto read = store_.events(live_.row.id, unknown);
        if (read.empty()) return;  // they are lost: payload() says so
        for (const HistoryEvent& event : read) prepared_.emplace(event.seq, event);
        unknown = unknown_of(seqs);
    }
}

HistoryEvent HistoryReader::event(Seq seq) const {
    if (const HistoryEvent* known = find_known(seq)) return *known;
    HistoryEvent read = read_event(store_, live_.row.id, seq);
    live_.recent.add_older(read);
    return read;
}

std::optional<HistoryEvent> HistoryReader::find_event(Seq seq) const {
    try {
        return event(seq);
    } catch (const Error& error) {
        if (error.code() != ErrorCode::CorruptState) throw;
        return std::nullopt;
    }
}

Payload HistoryReader::payload(Seq seq) const {
    HistoryEvent found = event(seq);
    while (refers(found)) found = event(found.ref);
    return found.payload.empty() ? Payload("null") : std::move(found.payload);
}

std::optional<Seq> HistoryReader::output_of(std::string_view node) const {
    const auto is_output = [node](const HistoryEvent& event) {
        return event.node == node && holds_output(event.type);
    };
    const auto pending = std::find_if(pending_.rbegin(), pending_.rend(), is_output);
    if (pending != pending_.rend()) return pending->seq;
    const auto& recent = live_.recent.events();
    const auto known = std::find_if(recent.rbegin(), recent.rend(), is_output);
    if (known != recent.rend()) return known->seq;
    if (live_.recent.complete_from() <= 1) return std::nullopt;
    if (!live_.recent.older_output(node)) read_older_output(node);
    const Seq older = live_.recent.older_output(node).value_or(0);
    return older == 0 ? std::nullopt : std::optional(older);
}

void HistoryReader::read_older_output(std::string_view node) const {
    auto events = store_.history({
        .instance = live_.row.id,
        .after = 0,
        .before = live_.recent.complete_from(),
        .limit = 1,
        .order = HistoryQuery::Order::Backward,
        .types = types_that(holds_output),
        .node = std::string(node),
    });
    live_.recent.set_older_output(
        node, events.empty() ? std::nullopt : std::optional(std::move(events.front()))
    );
}

void HistoryReader::learn_settled() const {
    if (live_.undo.knows_settled) return;
    for (const HistoryEvent& event : live_.recent.events()) {
        if (settles_compensation(event.type)) live_.undo.settled.insert(event.ref);
    }
    HistoryQuery query{
        .instance = live_.row.id,
        .after = 0,
        .before = live_.recent.complete_from(),
        .limit = kPageEvents,
        .order = HistoryQuery::Order::Forward,
        .types = types_that(settles_compensation),
        .node = {},
    };
    while (query.before > 1) {
        const auto page = store_.history(query);
        for (const HistoryEvent& event : page) live_.undo.settled.insert(event.ref);
        if (static_cast<int>(page.size()) < query.limit) break;
        query.after = page.back().seq;
    }
    live_.undo.knows_settled = true;
}

bool HistoryReader::is_settled(Seq seq) const {
    if (live_.undo.settled.contains(seq)) return true;
    return std::any_of(pending_.begin(), pending_.end(), [seq](const HistoryEvent& event) {
        return event.ref == seq && settles_compensation(event.type);
    });
}

std::optional<HistoryEvent> HistoryReader::previous_undoable(
    Seq before, Seq floor, std::string_view path_prefix
) const {
    learn_settled();
    if (auto found = previous_remembered(before, floor, path_prefix)) return found;
    return previous_stored(before, floor, path_prefix);
}

std::optional<HistoryEvent> HistoryReader::previous_remembered(
    Seq before, Seq floor, std::string_view prefix
) const {
    const auto matches = [&](const HistoryEvent& event) {
        return event.seq > floor && (before == 0 || event.seq < before) &&
               is_undoable(event.type) && std::string_view(event.path).starts_with(prefix) &&
               !is_settled(event.seq);
    };
    const auto pending = std::find_if(pending_.rbegin(), pending_.rend(), matches);
    if (pending != pending_.rend()) return *pending;
    const auto& recent = live_.recent.events();
    const auto known = std::find_if(recent.rbegin(), recent.rend(), matches);
    if (known != recent.rend()) return *known;
    return std::nullopt;
}

void HistoryReader::read_chunk(Seq before, Seq floor) const {
    UndoMemory& undo = live_.undo;
    undo.chunk = store_.history({
        .instance = live_.row.id,
        .after = floor,
        .before = before,
        .limit = kChunkEvents,
        .order = HistoryQuery::Order::Backward,
        .types = {std::begin(kUndoable), std::end(kUndoable)},
        .node = {},
    });
    undo.chunk_top = before - 1;
    const bool is_last = static_cast<int>(undo.chunk.size()) < kChunkEvents;
    undo.chunk_bottom = is_last ? floor + 1 : undo.chunk.back().seq;
}

std::optional<HistoryEvent> HistoryReader::previous_stored(
    Seq before, Seq floor, std::string_view prefix
) const {
    // What is newer than this was already looked through.
    Seq top = live_.recent.complete_from() - 1;
    if (before != 0) top = std::min(top, before - 1);
    while (top > floor) {
        UndoMemory& undo = live_.undo;
        const bool is_covered = top <= undo.chunk_top && top >= undo.chunk_bottom;
        if (!is_covered) read_chunk(top + 1, floor);
        for (const HistoryEvent& event : undo.chunk) {
            if (event.seq > top || event.seq <= floor) continue;
            if (std::string_view(event.path).starts_with(prefix) && !is_settled(event.seq)) {
                return event;
            }
        }
        top = undo.chunk_bottom - 1;
    }
    return std::nullopt;
}

}  // namespace ebb::engine
