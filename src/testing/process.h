#pragma once

#include <string>
#include <string_view>

#include "store/store_decorator.h"

namespace ebb::testing::detail {

/// Thrown instead of an answer of the store when the process that asked has died. Not a
/// std::exception, so nothing recovers from it by accident.
struct ProcessDied {};

/// What goes wrong in one play, and where, counted over all its processes. Of the calls of the
/// store, only those that write count: a process that dies with a read has changed nothing.
struct CrashPlan {
    enum class Kind {
        None,        ///< nothing: only counts
        BeforeCall,  ///< the call does not reach the store; another worker takes over
        AfterCall,   ///< its answer does not come back; another worker takes over
        ComesBack,   ///< the same, but a process with the same name takes over
        CallFails,   ///< a handler's call fails before it does anything
        AnswerLost,  ///< a handler's call does its work, but fails for the engine
    };

    Kind kind = Kind::None;
    int nth = 0;                         ///< which call of the store or of a handler, from 1
    int seen = 0;                        ///< calls of the store so far
    int calls = 0;                       ///< calls of handlers so far
    StoreVerb verb = StoreVerb::Commit;  ///< of the call at which it died
    std::string step{};                  ///< whose handler's call went wrong; `~` = its undoing

    bool is_of_handlers() const { return kind == Kind::CallFails || kind == Kind::AnswerLost; }
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
        is_hit_ = is_write(verb) && ++plan_.seen == plan_.nth && !plan_.is_of_handlers();
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
