#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include <ebb/error.h>

#include "support/store_decorator.h"

namespace ebb::testing {

/// Thrown where the process would have died. Not a std::exception, so no recovery code catches it
/// by accident.
struct SimulatedCrash {};

/// One thing that goes wrong, once.
struct Fault {
    enum class Kind {
        Unavailable,   ///< not performed; throws StoreUnavailable
        Busy,          ///< not performed; throws StoreBusy
        Full,          ///< not performed; throws StoreFull
        ReadOnly,      ///< not performed; throws StoreReadOnly
        Refused,       ///< not performed; throws StoreError, which is not transient
        NeverArrived,  ///< not performed; throws StoreInDoubt
        InDoubt,       ///< performed; throws StoreInDoubt
        CrashBefore,   ///< not performed; this and all later calls throw SimulatedCrash
        CrashAfter,    ///< performed; this and all later calls throw SimulatedCrash
    };

    Kind kind = Kind::Unavailable;
    int nth = 1;                    ///< which call, from 1, counted from when the fault was planned
    std::optional<StoreVerb> verb;  ///< only calls of this verb count; absent = of all that write
};

/// A store that fails as planned. Thread-safe.
class FaultyStore : public StoreDecorator {
 public:
    using StoreDecorator::StoreDecorator;

    void plan(const Fault& fault) {
        const std::lock_guard lock(mutex_);
        faults_.push_back({fault, 0});
    }

    /// Forgets what has not happened yet.
    void calm() {
        const std::lock_guard lock(mutex_);
        faults_.clear();
    }

    bool is_crashed() const {
        const std::lock_guard lock(mutex_);
        return is_crashed_;
    }

    /// True when every planned fault has happened.
    bool is_exhausted() const {
        const std::lock_guard lock(mutex_);
        return faults_.empty();
    }

 protected:
    void before(StoreVerb verb) override {
        const std::lock_guard lock(mutex_);
        if (is_crashed_) throw SimulatedCrash{};
        for (Planned& planned : faults_) {
            const auto& wanted = planned.fault.verb;
            if (wanted ? *wanted == verb : is_write(verb)) planned.seen += 1;
        }
        using Kind = Fault::Kind;
        for (const Kind kind :
             {Kind::CrashBefore,
              Kind::Unavailable,
              Kind::Busy,
              Kind::Full,
              Kind::ReadOnly,
              Kind::Refused,
              Kind::NeverArrived}) {
            strike(verb, kind);
        }
    }

    void after(StoreVerb verb) override {
        const std::lock_guard lock(mutex_);
        strike(verb, Fault::Kind::CrashAfter);
        strike(verb, Fault::Kind::InDoubt);
    }

 private:
    struct Planned {
        Fault fault;
        int seen = 0;
    };

    void strike(StoreVerb verb, Fault::Kind kind) {
        for (auto it = faults_.begin(); it != faults_.end(); ++it) {
            const Fault fault = it->fault;
            const bool is_verb = fault.verb ? *fault.verb == verb : is_write(verb);
            if (fault.kind != kind || !is_verb || it->seen < fault.nth) continue;
            faults_.erase(it);
            throw_fault(kind);
        }
    }

    [[noreturn]] void throw_fault(Fault::Kind kind) {
        switch (kind) {
            case Fault::Kind::Unavailable:
                throw Error(ErrorCode::StoreUnavailable, "The store is down, as the test planned.");
            case Fault::Kind::Busy:
                throw Error(ErrorCode::StoreBusy, "The store is busy, as the test planned.");
            case Fault::Kind::Full:
                throw Error(ErrorCode::StoreFull, "The disk is full, as the test planned.");
            case Fault::Kind::ReadOnly:
                throw Error(ErrorCode::StoreReadOnly, "Nothing is written, as the test planned.");
            case Fault::Kind::Refused:
                throw Error(ErrorCode::StoreError, "The store refuses, as the test planned.");
            case Fault::Kind::NeverArrived:
            case Fault::Kind::InDoubt:
                throw Error(ErrorCode::StoreInDoubt, "The answer was lost, as the test planned.");
            case Fault::Kind::CrashBefore:
            case Fault::Kind::CrashAfter:
                break;
        }
        is_crashed_ = true;
        throw SimulatedCrash{};
    }

    mutable std::mutex mutex_;
    std::vector<Planned> faults_;
    bool is_crashed_ = false;
};

}  // namespace ebb::testing
