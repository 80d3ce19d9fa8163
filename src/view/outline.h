#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ebb/instance.h>
#include <ebb/json.h>

#include "core/kernel/program.h"
#include "engine/view.h"
#include "store/store.h"
#include "view/payload_json.h"

namespace ebb::view {

/// One line about an instance: its status, what it waits for, and why it is in trouble. Unlike
/// InstanceView it is made without reading the whole history.
struct Outline {
    InstanceSummary summary;
    std::vector<WaitingFor> waiting_for;  ///< as InstanceView has it; empty when it has ended
    Payload error;                        ///< as InstanceView has it
    std::vector<std::string> handlers;    ///< that its live tokens call or wait for

    /// Whether nothing of it runs: it waits for a person, a timer, a signal, a worker.
    bool is_waiting() const;
};

/// Makes outlines of rows that were just read. Asks the store a few small questions for an
/// instance that is live or has failed, and none for one that has completed. Not thread-safe.
class Outliner {
 public:
    /// `store` must outlive it. `now` judges leases and what is due. `shown`: what the sentences
    /// may tell of payloads.
    Outliner(Store& store, TimePoint now, engine::ShownPayload shown = {});

    /// Throws what the store throws. An instance that cannot be decoded has an outline whose only
    /// wait says so.
    Outline read(const InstanceRow& row);

    /// The names of the nodes at which its live tokens are; none if it cannot be decoded.
    std::vector<std::string> nodes(const InstanceRow& row);

 private:
    std::shared_ptr<const Program> program_of(const InstanceRow& row);
    std::vector<HistoryEvent> events_for(const InstanceRow& row, const InstanceState& state);
    void add_queues(
        const std::vector<TaskRow>& tasks, std::vector<std::pair<TokenId, QueueUse>>& queues
    );
    void read_live(const InstanceRow& row, Outline& outline);

    Store& store_;
    TimePoint now_;
    engine::ShownPayload shown_;
    std::vector<WorkerRow> workers_;
    std::map<std::pair<std::string, int>, std::shared_ptr<const Program>> programs_;
};

/// The summary with `waiting_for` and `error`.
Json outline_json(const Outline& outline);

}  // namespace ebb::view
