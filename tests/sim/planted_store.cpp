// Stores that are wrong: they do not keep or return what they were given. Every decision goes
// through the store, so a wrong kernel looks the same from outside.

#include <algorithm>
#include <set>
#include <utility>

#include "core/kernel/program.h"
#include "sim/planted.h"
#include "support/store_decorator.h"

namespace ebb::sim {

namespace {

class PlantedStore : public testing::StoreDecorator {
 public:
    PlantedStore(Store& inner, const PlantedStoreBug& bug)
        : StoreDecorator(inner), inner_(inner), bug_(bug) {}

    std::vector<CommitResult> commit(std::span<const Commit> commits) override {
        std::vector<CommitResult> results;
        for (const Commit& commit : commits) results.push_back(commit_one(commit));
        return results;
    }

    std::vector<Claim> claim(const ClaimRequest& request) override {
        auto claims = StoreDecorator::claim(request);
        if (bug_.claim) std::for_each(claims.begin(), claims.end(), bug_.claim);
        return claims;
    }

    void set_queue(const QueueRow& row) override {
        QueueRow wrong = row;
        if (bug_.limits) bug_.limits(wrong.limits);
        StoreDecorator::set_queue(wrong);
    }

    HeartbeatResult heartbeat(const WorkerRow& worker, Duration lease) override {
        WorkerRow wrong = worker;
        wrong.takes_name |= bug_.displaces_nobody;
        HeartbeatResult result = StoreDecorator::heartbeat(wrong, lease);
        if (bug_.forgets_limits) result.limited_queues.clear();
        return result;
    }

    void release(const WorkerProcess& worker, std::span<const TaskRef> tasks) override {
        StoreDecorator::release(bug_.confuses_processes ? holder_of(worker) : worker, tasks);
    }

    PurgeResult purge(const PurgeRequest& request) override {
        PurgeRequest wrong = request;
        for (RetentionRule& rule : wrong.rules) {
            if (bug_.purges_at_once) rule.keep = {Duration(0), Duration(0)};
        }
        return StoreDecorator::purge(wrong);
    }

    std::vector<HistoryEvent> history(const HistoryQuery& query) override {
        auto events = StoreDecorator::history(query);
        if (bug_.history) bug_.history(query, events);
        return events;
    }

 private:
    /// The process that has this name now.
    WorkerProcess holder_of(WorkerProcess worker) {
        for (const WorkerRow& row : inner_.workers()) {
            if (row.id == worker.id) worker.started_at = row.started_at;
        }
        return worker;
    }

    CommitResult commit_one(const Commit& commit) {
        const std::optional<InstanceRow> row = inner_.load(commit.instance);
        if (!row) return inner_.commit({&commit, 1}).front();
        const bool is_conflict = row->revision != commit.expected_revision;
        if (is_conflict && !bug_.ignores_conflicts) return CommitResult::Conflict;
        const Program& program = program_of(*row);
        PlantedChange change{
            .status = commit.status,
            .state = decode_state(commit.state, program),
            .history = {commit.history.begin(), commit.history.end()},
            .tasks = {commit.tasks.begin(), commit.tasks.end()}
        };
        if (is_conflict) put_behind(change, decode_state(row->state, program).last_seq);
        const bool has_gaps = !is_in_a_row(change.history);  // an imported history may have gaps
        const Seq first = change.history.empty() ? 0 : change.history.front().seq;
        if (bug_.commit) bug_.commit(change);
        if (change.is_forgotten) return CommitResult::Committed;
        for (std::size_t i = 0; i < change.history.size() && !has_gaps; ++i) {
            change.history[i].seq = first + static_cast<Seq>(i);
        }
        Commit wrong = commit;
        wrong.expected_revision = row->revision;
        wrong.status = change.status;
        wrong.state = encode_state(change.state, program);
        wrong.history = change.history;
        wrong.tasks = change.tasks;
        const CommitResult result = inner_.commit({&wrong, 1}).front();
        if (wrong.state != commit.state && !is_terminal(wrong.status)) make_known(wrong);
        return result;
    }

    static bool is_in_a_row(const std::vector<HistoryEvent>& events) {
        for (std::size_t i = 1; i < events.size(); ++i) {
            if (events[i].seq != events[i - 1].seq + 1) return false;
        }
        return true;
    }

    /// The worker that committed it continues with its own state. Only if it finds that the
    /// instance has changed does it read the state again.
    void make_known(Commit commit) {
        commit.expected_revision += 1;
        commit.history = {};
        commit.tasks = {};
        inner_.commit({&commit, 1});
    }

    /// A decision on an old state is placed after the events that have happened since.
    static void put_behind(PlantedChange& change, Seq last) {
        if (change.history.empty() || change.history.front().seq > last) return;
        const Seq by = last + 1 - change.history.front().seq;
        for (HistoryEvent& event : change.history) event.seq += by;
        change.state.last_seq += by;
    }

    const Program& program_of(const InstanceRow& row) {
        if (!program_) {
            const auto workflow = inner_.find_workflow(row.workflow, row.version);
            program_ = Program::compile(parse_definition_json(workflow->definition));
        }
        return *program_;
    }

    Store& inner_;
    const PlantedStoreBug bug_;
    std::shared_ptr<const Program> program_;  // a run has one workflow
};

using Change = PlantedChange;

bool has(const Change& change, HistoryType type) {
    return std::any_of(change.history.begin(), change.history.end(), [type](const auto& event) {
        return event.type == type;
    });
}

void tell_as(Change& change, HistoryType from, HistoryType to, InstanceStatus status) {
    for (HistoryEvent& event : change.history) {
        if (event.type != from) continue;
        event.type = to;
        change.status = change.state.status = status;
    }
}

/// The signal that resumed a step is kept and resumes the step's next pause.
void keep_signal(Change& change) {
    for (const HistoryEvent& event : change.history) {
        if (event.type != HistoryType::SignalReceived) continue;
        const bool has_resumed =
            std::any_of(change.state.tokens.begin(), change.state.tokens.end(), [&](const auto& t) {
                return t.payload == event.seq;
            });
        if (has_resumed) change.state.signals.push_back({.name = event.node, .event = event.seq});
    }
}

/// An event is written twice, and all numbers after it are shifted.
void tell_twice(Change& change, HistoryType type) {
    if (change.history.empty() || change.history.back().type != type) return;
    change.history.push_back(change.history.back());
    change.state.last_seq += 1;
}

bool is_wake(const TaskChange& task) {
    return task.kind == TaskChange::Kind::Put && task.handler.empty() && task.token > 0;
}

PlantedBug in_commit(std::string name, std::function<void(Change&)> commit) {
    return {.name = std::move(name), .store = {.commit = std::move(commit)}};
}

template <class Each>
PlantedBug in_tasks(std::string name, Each each) {
    return in_commit(std::move(name), [each](Change& change) {
        for (TaskChange& task : change.tasks) each(task);
    });
}

template <class Each>
PlantedBug in_events(std::string name, HistoryType type, Each each) {
    return in_commit(std::move(name), [type, each](Change& change) {
        for (HistoryEvent& event : change.history) {
            if (event.type == type) each(event);
        }
    });
}

template <class Each>
PlantedBug in_tokens(std::string name, Each each) {
    return in_commit(std::move(name), [each](Change& change) {
        for (Token& token : change.state.tokens) each(token);
    });
}

std::vector<PlantedBug> of_tasks() {
    using TaskKind = TaskChange::Kind;
    return {
        in_commit(
            "a task is not created",
            [](Change& change) {
                std::erase_if(change.tasks, [](const TaskChange& task) {
                    return task.kind == TaskKind::Put && task.token % 3 == 2;
                });
            }
        ),
        in_commit(
            "a task is left behind when its token is gone",
            [](Change& change) {
                std::erase_if(change.tasks, [](const TaskChange& task) {
                    return task.kind == TaskKind::Remove && task.token > 0;
                });
            }
        ),
        in_tasks(
            "a wait has no wake-up",
            [](TaskChange& task) {
                if (is_wake(task)) task.due = kNever;
            }
        ),
        in_tasks(
            "a timer fires immediately",
            [](TaskChange& task) {
                if (is_wake(task) && task.due != kNever) task.due = TimePoint{};
            }
        ),
        in_tasks(
            "a retry happens immediately",
            [](TaskChange& task) {
                const bool has_handler = task.kind == TaskKind::Put && !task.handler.empty();
                if (has_handler && task.due != kNever) task.due = TimePoint{};
            }
        ),
        in_tasks(
            "a stop is not recorded",
            [](TaskChange& task) {
                if (task.kind == TaskKind::Stop) task.kind = TaskKind::Park;
            }
        ),
        in_tasks(
            "a parked task stays parked",
            [](TaskChange& task) {
                if (task.kind == TaskKind::Unpark) task.kind = TaskKind::Park;
            }
        ),
    };
}

std::vector<PlantedBug> of_endings() {
    using Type = HistoryType;
    return {
        in_commit(
            "cancelled ends as failed",
            [](Change& c) { tell_as(c, Type::Cancelled, Type::Failed, InstanceStatus::Failed); }
        ),
        in_commit(
            "failed ends as completed",
            [](Change& c) { tell_as(c, Type::Failed, Type::Completed, InstanceStatus::Completed); }
        ),
        in_commit(
            "aborted ends as completed",
            [](Change& c) { tell_as(c, Type::Aborted, Type::Completed, InstanceStatus::Completed); }
        ),
        in_commit(
            "the status and the history disagree",
            [](Change& c) {
                if (has(c, Type::Failed)) c.status = InstanceStatus::Cancelled;
            }
        ),
        in_commit(
            "a rollback ends too early",
            [](Change& c) {
                if (!has(c, Type::StepCompensated)) return;
                for (Rollback& rollback : c.state.rollbacks) rollback.floor = c.state.last_seq;
            }
        ),
        in_commit("a savepoint is ignored", [](Change& c) { c.state.savepoint.reset(); }),
        in_commit(
            "resumes are not counted",
            [](Change& c) {
                if (c.state.savepoint) c.state.savepoint->resumes = 0;
            }
        ),
    };
}

std::vector<PlantedBug> of_events() {
    using Type = HistoryType;
    return {
        in_commit(
            "one attempt commits twice", [](Change& c) { tell_twice(c, Type::StepCompleted); }
        ),
        in_commit(
            "a compensation counts twice", [](Change& c) { tell_twice(c, Type::StepCompensated); }
        ),
        in_commit(
            "an answered pause is forgotten",
            [](Change& c) { c.is_forgotten = c.history.size() == 1 && has(c, Type::Paused); }
        ),
        in_commit("a pause is resumed twice", keep_signal),
        in_events(
            "the output of a join is wrong",
            Type::ScopeJoined,
            [](HistoryEvent& event) { event.payload = "{}"; }
        ),
        in_events(
            "an output is lost",
            Type::StepCompleted,
            [](HistoryEvent& event) { event.payload = "{\"n\":7}"; }
        ),
        in_events(
            "a failure is recorded as a different one",
            Type::StepFailed,
            [](HistoryEvent& event) { event.payload = R"({"code":"error","message":"?"})"; }
        ),
        in_events(
            "a compensation undoes the wrong step",
            Type::StepCompensated,
            [](HistoryEvent& event) { event.ref = std::max<Seq>(event.ref - 1, 1); }
        ),
    };
}

std::vector<PlantedBug> of_tokens() {
    return {
        in_tokens(
            "a step is retried beyond max_attempts",
            [](Token& token) {
                if (token.status == TokenStatus::Retrying) token.attempt_base = token.attempt - 1;
            }
        ),
        in_tokens(
            "a loop forgets its turns",
            [](Token& token) {
                for (LoopTurn& turn : token.loops) turn.turn = std::min<std::int64_t>(turn.turn, 1);
            }
        ),
        in_tokens(
            "a step gets the input of the instance",
            [](Token& token) {
                if (token.compensates == 0) token.input = 1;
            }
        ),
        in_tokens(
            "a step continues after the rollback began",
            [](Token& token) { token.stopping = false; }
        ),
        in_tokens("votes are forgotten", [](Token& token) { token.votes.clear(); }),
        in_tokens(
            "one vote counts for two",
            [](Token& token) {
                if (token.votes.size() == 1) token.votes.push_back({.by = "ghost"});
            }
        ),
        in_tokens(
            "the doubt after a lost worker is forgotten",
            [](Token& token) { token.in_doubt = false; }
        ),
    };
}

bool reads_undoable(const HistoryQuery& query) {
    return query.order == HistoryQuery::Order::Backward && query.node.empty() &&
           query.types.size() > 1 && std::ranges::all_of(query.types, is_undoable);
}

std::vector<PlantedBug> of_reads() {
    PlantedBug lost{.name = "a lost lease is not reported"};
    lost.store.claim = [](Claim& claim) { claim.was_lost = false; };
    PlantedBug conflict{.name = "a stale worker's commit is performed"};
    conflict.store.ignores_conflicts = true;
    PlantedBug order{.name = "compensations out of order"};
    order.store.history = [](const HistoryQuery& query, std::vector<HistoryEvent>& events) {
        if (reads_undoable(query)) std::reverse(events.begin(), events.end());
    };
    PlantedBug skipped{.name = "a compensation is skipped"};
    skipped.store.history = [](const HistoryQuery& query, std::vector<HistoryEvent>& events) {
        if (reads_undoable(query) && !events.empty()) events.erase(events.begin());
    };
    PlantedBug twice{.name = "a compensation is done twice"};
    twice.store.history = [](const HistoryQuery&, std::vector<HistoryEvent>& events) {
        std::erase_if(events, [](const HistoryEvent& event) {
            return event.type == HistoryType::StepCompensated;
        });
    };
    PlantedBug input{.name = "a handler gets the data of the wrong event"};
    input.store.history = [](const HistoryQuery& query, std::vector<HistoryEvent>& events) {
        if (query.limit != 1) return;
        for (HistoryEvent& event : events) {
            if (!event.payload.empty()) event.payload = R"({"n":1,"from":"another"})";
        }
    };
    PlantedBug turn{.name = "only the last turn of a cycle is compensated"};
    turn.store.history = [](const HistoryQuery& query, std::vector<HistoryEvent>& events) {
        if (!reads_undoable(query)) return;
        std::set<std::string> seen;
        std::erase_if(events, [&](const HistoryEvent& e) { return !seen.insert(e.node).second; });
    };
    return {lost, conflict, order, skipped, twice, input, turn};
}

std::vector<PlantedBug> of_limits() {
    PlantedBug slot{.name = "a queue has one slot too many"};
    slot.store.limits = [](QueueLimits& limits) {
        if (limits.concurrency) ++*limits.concurrency;
    };
    PlantedBug key{.name = "a key has one slot too many"};
    key.store.limits = [](QueueLimits& limits) {
        if (limits.concurrency_per_key) ++*limits.concurrency_per_key;
    };
    PlantedBug rate{.name = "a rate forgets its starts too early"};
    rate.store.limits = [](QueueLimits& limits) {
        if (limits.rate) limits.rate->period /= 2;
    };
    PlantedBug unknown{.name = "workers do not learn which queues have limits"};
    unknown.store.forgets_limits = true;
    PlantedBug closed{.name = "a queue with limits starts nothing"};
    closed.store.limits = [](QueueLimits& limits) { limits.concurrency = 0; };
    PlantedBug early{.name = "an ended instance is purged too early"};
    early.store.purges_at_once = true;
    return {slot, key, rate, unknown, closed, early};
}

std::vector<PlantedBug> of_names() {
    PlantedBug both{.name = "two processes keep the same name"};
    both.store.displaces_nobody = true;
    PlantedBug leases{.name = "a process returns the leases of its successor"};
    leases.store.confuses_processes = true;
    return {both, leases};
}

}  // namespace

std::unique_ptr<Store> plant_in_store(Store& inner, const PlantedStoreBug& bug) {
    return std::make_unique<PlantedStore>(inner, bug);
}

std::vector<PlantedBug> planted_store_bugs() {
    std::vector<PlantedBug> all;
    for (auto& some :
         {of_tasks(), of_endings(), of_events(), of_tokens(), of_reads(), of_limits(), of_names()
         }) {
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

}  // namespace ebb::sim
