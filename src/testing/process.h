#pragma once

#include <string_view>

#include "store/store_decorator.h"

namespace ebb::testing::detail {

/// Thrown instead of an answer of the store when the process that asked has died. Not a
/// std::exception, so nothing recovers from it by accident.
struct ProcessDied {};

/// Where a process dies, counted over all processes of one play. Only calls that write count: a
/// process that dies with a read has changed nothing.
struct CrashPlan {
    enum class Kind {
        None,        ///< nothing: only counts
        BeforeCall,  ///< the call does not reach the store; another worker takes over
        AfterCall,   ///< its answer does not come back; another worker takes over
        ComesBack,   ///< the same, but a process with the same name takes over
    };

    Kind kind = Kind::None;
    int nth = 0;                         ///< which call, from 1
    int seen = 0;                        ///< calls so far
    StoreVerb verb = StoreVerb::Commit;  ///< of the call at which it died
};

/// The store as one process sees it. After the process has died, no call comes through.
class ProcessStore final : public StoreDecorator {
 public:
    /// Both must outlive it.
    ProcessStore(Store& inner, CrashPlan& plan) : StoreDecorator(inner), plan_(plan) {}

    void die() { is_dead_ = true; }

    bool is_dead() const { return is_dead_; }

 protected:
    void before(StoreVerb verb) override {
        if (is_dead_) throw ProcessDied{};
        is_hit_ = is_write(verb) && ++plan_.seen == plan_.nth;
        if (!is_hit_) return;
        plan_.verb = verb;
        if (plan_.kind == CrashPlan::Kind::BeforeCall) die_here();
    }

    void after(StoreVerb /*verb*/) override {
        if (is_hit_) die_here();
    }

 private:
    [[noreturn]] void die_here() {
        is_hit_ = false;
        is_dead_ = true;
        throw ProcessDied{};
    }

    CrashPlan& plan_;
    bool is_dead_ = false;
    bool is_hit_ = false;
};

}  // namespace ebb::testing::detail
