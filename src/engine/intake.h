#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <vector>

#include "engine/committer_role.h"
#include "engine/flights.h"
#include "engine/holdings.h"
#include "engine/inbox.h"
#include "engine/lease_audit.h"
#include "engine/open_work.h"
#include "engine/settle.h"

namespace ebb::engine {

/// Absorbs posted items: it changes what is held and what is open, and notes what to review. An
/// item is held back while its instance is pending: nothing more may be decided on it.
class Intake {
 public:
    struct Parts {
        Environment& environment;
        Watchdog& watchdog;
        Inbox& inbox;
        Agenda& agenda;
        Holdings& holdings;
        OpenWork& open;
        Flights& flights;
        Settler& settler;
        LeaseAudit& audit;
    };

    explicit Intake(const Parts& parts) : parts_(parts) {}

    /// What was held back, and what was posted since.
    void take_items() EBB_REQUIRES(kCommitter);

    /// One of the items that are held back concerns everything: nothing is decided before it.
    bool wants_quiet() const EBB_REQUIRES(kCommitter) { return wants_quiet_; }

    bool holds_back() const EBB_REQUIRES(kCommitter) { return !held_back_.empty(); }

    /// Could an item that is held back be absorbed now?
    bool may_absorb() const EBB_REQUIRES(kCommitter);

    void refuse_requests(const std::exception_ptr& error) EBB_REQUIRES(kCommitter);

 private:
    void absorb_or_hold_back(Item item) EBB_REQUIRES(kCommitter);
    bool must_wait(const Item& item) EBB_REQUIRES(kCommitter);
    void absorb(item::Outcome& outcome) EBB_REQUIRES(kCommitter);
    void note_progress(const AttemptPtr& attempt, std::optional<Payload> value)
        EBB_REQUIRES(kCommitter);
    void absorb(item::Transacted& transacted) EBB_REQUIRES(kCommitter);
    void absorb(item::Unstarted& unstarted) EBB_REQUIRES(kCommitter);
    void absorb(item::Claimed& claimed) EBB_REQUIRES(kCommitter);
    void absorb(item::Begun& begun) EBB_REQUIRES(kCommitter);
    void absorb(item::Request& request) EBB_REQUIRES(kCommitter);
    void absorb(item::Heartbeat& heartbeat) EBB_REQUIRES(kCommitter);
    void absorb(item::Told& told) EBB_REQUIRES(kCommitter);
    void absorb(item::Withdrawal& withdrawal) EBB_REQUIRES(kCommitter);
    void absorb(item::Shutdown& shutdown) EBB_REQUIRES(kCommitter);

    Environment& environment() const { return parts_.environment; }

    HeldTable& tasks() const EBB_REQUIRES(kCommitter) { return parts_.holdings.tasks(); }

    const Parts parts_;
    std::vector<Item> held_back_ EBB_GUARDED_BY(kCommitter);
    bool wants_quiet_ EBB_GUARDED_BY(kCommitter) = false;
    /// How many flights were settled when the items that are held back were looked at.
    std::uint64_t settled_before_ EBB_GUARDED_BY(kCommitter) = 0;
};

}  // namespace ebb::engine
