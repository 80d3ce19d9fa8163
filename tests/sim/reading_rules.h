#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "sim/run.h"

namespace ebb::sim {

using Json = nlohmann::json;

/// The step that handles exceptions.
inline constexpr const char* kExceptionHandler = "_EXCPT";

/// Reads the history of an instance with rules (docs/reference/rules.md), as `Reading` does that of
/// one with steps. Shares no code with the kernel.
class RulesReading {
 public:
    explicit RulesReading(const Evidence& evidence);

    /// Throws Wrong.
    void read();

 private:
    using Entry = HistoryEntry;

    struct Pending {
        std::int64_t fired = 0;
        std::int64_t visit = 0;  ///< 0: not known yet
        bool is_frozen = false;
        std::optional<TimePoint> due{};  ///< armed: when its condition has been true long enough
    };

    struct Mark {
        std::int64_t fires = 0;
        bool was_true = false;
        std::int64_t failed = 0;
    };

    /// Of a transition, or of the handler of exceptions.
    struct Write {
        std::string node;
        Json was;
        bool is_restored = false;
        bool is_undone = false;  ///< a rollback has passed it
    };

    /// From which on a rollback after a failure undoes nothing.
    struct Savepoint {
        std::string name;
        std::int64_t reached = 0;
        int resumes = 0;
    };

    /// A call that a rollback undoes.
    struct Undoable {
        std::string node;
        bool has_compensation = false;
        bool is_settled = false;
    };

    /// What a write must lead to.
    struct Outcome {
        std::vector<std::string> fired;
        std::vector<std::string> armed;
        std::string final_condition;
        std::string exception;
        std::string savepoint;
    };

    void read_entry(const Entry& e);
    bool read_write_entry(const Entry& e);
    bool read_step_entry(const Entry& e);
    bool read_rollback_entry(const Entry& e);
    void read_instance_entry(const Entry& e);

    // reading_rules.cpp: what writes mean.
    void on_started(const Entry& e);
    void on_written(const Entry& e);
    void on_state_written(const Entry& e);
    void on_exception(const Entry& e);
    void on_migrated(const Entry& e);
    bool may_fire_armed(const std::string& trigger) const;
    void begin_write(const Entry& e, const Json& written);
    Outcome outcome_of(const Entry& e, const Json& written);
    bool keeps_invariants() const;
    std::string reached_savepoint(bool is_start) const;
    void on_savepoint(const Entry& e);
    void check_changes(const Entry& e, const Json& written);
    void change(const Entry& e, const Json& written);
    Outcome decide(bool is_start);
    Outcome fire();
    Outcome raise(const std::string& cause);
    void disarm(const std::string& trigger);
    void disarm_all();
    void on_armed(const Entry& e);
    void on_time(const Entry& e);
    void on_disarmed(const Entry& e);
    static bool is_counted(const Json& trigger);
    const Json& trigger_of(const std::string& name) const;
    void expect_outcome(const Outcome& outcome);
    const Json* find_final() const;
    bool fires(const Json& trigger);
    Json given(const std::string& node) const;

    // reading_rules_steps.cpp: calls, failures, rollbacks.
    void on_completed(const Entry& e);
    void on_failed(const Entry& e);
    void check_failure(const Entry& e) const;
    void on_held_back(const Entry& e);
    void on_stopped(const Entry& e);
    void on_no_longer_armed(const Entry& e);
    void on_restored(const Entry& e);
    void on_compensated(const Entry& e);
    void on_rollback_started(const Entry& e);
    void on_rollback_finished();
    void on_recover_requested(const Entry& e);
    void on_resumed(const Entry& e);
    void unfire(const std::string& trigger);
    bool may_resume() const;
    bool is_rolled_back() const;
    const Json& savepoint_of(const std::string& name) const;
    void on_requeued();
    void check_end() const;
    void check_calls() const;
    void enter_dead_letter();
    Pending& pending_of(const Entry& e);
    void note_undoable(const Entry& e);

    const Json& rules() const { return definition_.at("rules"); }

    bool is(std::string_view option, std::string_view value, std::string_view otherwise) const;
    bool has_frozen() const;
    bool has_handler() const;
    /// The handler of exceptions does not count: nothing waits for it.
    bool has_pending() const;
    bool holds(const Json& condition) const;
    const Json& payload(std::int64_t seq) const;
    [[noreturn]] void fail(const std::string& what) const;

    void require(bool is_so, const std::string& what) const {
        if (!is_so) fail(what);
    }

    const Evidence& evidence_;
    Json definition_;
    Json state_ = Json::object();
    Json before_;  ///< the attributes before the last write
    std::map<std::string, std::int64_t> written_;
    std::map<std::string, Pending> pending_;  ///< by transition; `_EXCPT`: the handler
    std::set<std::string> stopped_;           ///< whose end a rollback awaits
    std::map<std::string, Mark> marks_;
    std::map<std::int64_t, Json> payloads_;
    std::map<std::int64_t, Write> writes_;
    std::map<std::int64_t, Undoable> undoables_;
    std::deque<std::string> expected_;              ///< the types of the next events
    std::vector<std::string> fired_;                ///< or armed, by the last write
    std::map<std::string, std::int64_t> disarmed_;  ///< by it, with their visits
    std::int64_t write_ = 0;                        ///< the last write
    std::int64_t failure_ = 0;                      ///< the last failure for good
    std::int64_t now_ = 0;
    std::int64_t floor_ = 0;  ///< of the rollback
    std::int64_t cause_ = 0;  ///< of the rollback
    std::optional<Savepoint> savepoint_;
    std::string next_savepoint_;  ///< that must be reached next
    std::int64_t recover_to_ = 0;
    std::string recover_then_;
    std::string exception_;  ///< that must come next
    std::string last_;       ///< the transition that wrote or failed last
    std::string rollback_;   ///< its kind; empty: none
    std::string ended_;
    std::int64_t idle_ = 0;
    bool is_finishing_ = false;
    bool is_exception_ = false;
    bool ends_handler_ = false;  ///< because its exception has ended: that must come next
    bool is_dead_ = false;
    bool is_paused_ = false;
    bool asks_all_ = false;
    bool has_followed_ = false;     ///< to other rules, since the last write
    bool is_late_failure_ = false;  ///< an operator lets the rollback of a late failure begin
};

}  // namespace ebb::sim
