#pragma once

#include <vector>

#include "engine/committer_role.h"
#include "engine/flights.h"
#include "engine/holdings.h"
#include "engine/open_work.h"
#include "engine/settle.h"
#include "engine/store_trouble.h"

namespace ebb::engine {

/// Decides the open work: one turn for each instance.
class Decider {
 public:
    struct Parts {
        Environment& environment;
        ProgramCache& programs;
        Agenda& agenda;
        Holdings& holdings;
        OpenWork& open;
        Flights& flights;
        Settler& settler;
        StoreTrouble& trouble;
    };

    explicit Decider(const Parts& parts) : parts_(parts) {}

    void decide_open(const Moment& now) EBB_REQUIRES(kCommitter);

 private:
    /// False if it cannot be decided now. A turn with something to write is added to `turns`.
    bool decide_one(Work& work, const Moment& now, std::vector<Turn>& turns)
        EBB_REQUIRES(kCommitter);
    /// Pending changes for tasks that were lost in the meantime no longer belong to this worker.
    void forget_lost(Work& work) EBB_REQUIRES(kCommitter);

    const Parts parts_;
};

}  // namespace ebb::engine
