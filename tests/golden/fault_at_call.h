#pragma once

#include "support/store_decorator.h"
#include "support/store_faulty.h"

namespace ebb::golden {

/// What goes wrong at one call of the store, once, counted over all processes of a play.
struct Fault {
    enum class Kind {
        None,         ///< nothing: only counts
        Fail,         ///< not performed, StoreUnavailable; reads fail too
        InDoubt,      ///< performed, but the answer is lost: StoreInDoubt
        CrashBefore,  ///< the process dies before the call; another one takes over
        CrashAfter,   ///< the process dies after the call; another one takes over
        Restart,      ///< as CrashAfter, but a process of the same name comes back
    };

    Kind kind = Kind::None;
    int nth = 0;   ///< which call, from 1
    int seen = 0;  ///< calls so far
    bool has_struck = false;
};

/// The store as one process sees it: its calls are counted, the planned one goes wrong, and none
/// comes through after the process has died.
class FaultAtCall : public testing::StoreDecorator {
 public:
    FaultAtCall(Store& inner, Fault& fault) : StoreDecorator(inner), fault_(fault) {}

    void die() { is_dead_ = true; }

    bool is_dead() const { return is_dead_; }

 protected:
    void before(testing::StoreVerb verb) override {
        if (is_dead_) throw testing::SimulatedCrash{};
        const bool is_read = !testing::is_write(verb);
        // A read that is answered, or dies with its process, changes nothing.
        is_hit_ = false;
        if (is_read && fault_.kind != Fault::Kind::Fail && fault_.kind != Fault::Kind::None) return;
        is_hit_ = ++fault_.seen == fault_.nth && fault_.kind != Fault::Kind::None;
        if (!is_hit_) return;
        fault_.has_struck = true;
        if (fault_.kind == Fault::Kind::Fail) {
            throw Error(ErrorCode::StoreUnavailable, "The store is down, as the test planned.");
        }
        if (fault_.kind == Fault::Kind::CrashBefore) crash();
    }

    void after(testing::StoreVerb /*verb*/) override {
        if (!is_hit_) return;
        is_hit_ = false;
        if (fault_.kind == Fault::Kind::InDoubt) {
            throw Error(ErrorCode::StoreInDoubt, "The answer was lost, as the test planned.");
        }
        crash();
    }

 private:
    [[noreturn]] void crash() {
        is_dead_ = true;
        throw testing::SimulatedCrash{};
    }

    Fault& fault_;
    bool is_dead_ = false;
    bool is_hit_ = false;
};

}  // namespace ebb::golden
