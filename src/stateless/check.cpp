#include "stateless/check.h"

#include <fmt/format.h>

#include <ebb/error.h>

#include "stateless/view.h"
#include "stateless/work.h"

namespace ebb::stateless {

void throw_corrupt(const std::string& why) {
    throw Error(ErrorCode::CorruptState, "The snapshot cannot be understood: " + why + ".");
}

void check_events(
    std::span<const Kept> events, const InstanceState& state, const Program& program
) {
    Seq last = 0;
    for (const Kept& event : events) {
        if (event.seq <= last) {
            throw_corrupt(fmt::format("two of its events have the number {}", event.seq));
        }
        last = event.seq;
        if (event.ref >= event.seq) {
            throw_corrupt(fmt::format("event {} refers to a later one", event.seq));
        }
        if (!event.is_undoable) continue;
        const bool can_be = is_undoable(event.type) && event.attempt > 0 && event.node != kNoNode &&
                            program.node(event.node).compensate;
        if (!can_be) {
            throw_corrupt(fmt::format("event {} is said to be undoable and cannot be", event.seq));
        }
    }
    if (last > state.last_seq) {
        throw_corrupt(
            fmt::format("it has an event {}, and its state counts only {}", last, state.last_seq)
        );
    }
}

namespace {

void check_references(const Snapshot::Data& data) {
    each_root(data.state, [&](Seq seq) {
        if (data.record.find_payload(seq) == nullptr) {
            throw_corrupt(fmt::format("its event {} is needed and missing", seq));
        }
    });
}

}  // namespace

void check_snapshot(const Snapshot::Data& data, const Derived& derived) {
    check_references(data);
    const std::string_view status = to_string(status_of(data.state));
    if (derived.status && *derived.status != status) {
        throw_corrupt(fmt::format(
            "its status says \"{}\", and its state is \"{}\"; use the engine to change it",
            *derived.status,
            status
        ));
    }
    const NodeIndex node = current_node(data);
    const std::string_view name =
        node == kNoNode ? std::string_view() : data.program().node(node).name;
    if (derived.current_node && *derived.current_node != name) {
        throw_corrupt(fmt::format(
            "its currentNodeId says \"{}\", and its state stands at \"{}\"; use the engine to "
            "change "
            "it",
            *derived.current_node,
            name
        ));
    }
}

}  // namespace ebb::stateless
