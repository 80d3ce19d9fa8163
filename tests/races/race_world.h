#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "races/interleaving.h"
#include "races/race_verbs.h"

namespace ebb::testing {

/// A small world with instances in every condition, in which two verbs meet; and what must hold
/// afterwards, whatever they were and whichever came first.
class Races : public ::testing::TestWithParam<Isolation> {
 protected:
    Races();

    /// Workers w1 and w2 live, and `late` is dead by the clock. 1, 2: ready; 2 has mail. 3: held by
    /// w1, and 4 by w2. 5: held by `late`, and 6 since its start. 7: held by w1 since its start. 8:
    /// in a queue with room for one. 9: to be stopped.
    void make_world();
    /// The same in a new schema.
    void make_new_world();

    Side side_one() { return {world_->gated(), "w1", url_of(true)}; }

    Side side_two() { return {world_->open(), "w2", url_of(false)}; }

    /// A session of an application or an administrator, which the gates know as what it is.
    std::string url_of(bool is_gated) const;

    void check(const std::vector<Side>& sides);

    ManualClock clock_;
    std::unique_ptr<Interleaving> world_;
    /// One of the verbs says that a call may have been made whose outcome is not kept.
    bool may_be_lost_ = false;
    /// Instances are purged, or dropped with their partition.
    bool may_be_gone_ = false;

 private:
    void check_claim(const Side& side, const Claim& claimed);
    void check_outcome(const Left& left);
    void check_rows();
    void check_row(int n);
    void check_leases();
    /// The one value that a query of the schema yields; `{}` stands for the schema.
    std::string ask(const std::string& query);
};

}  // namespace ebb::testing
