#include <algorithm>
#include <map>
#include <unordered_set>

#include <ebb/error.h>

#include "ebb/postgres/sql.h"
#include "store/postgres/effect_columns.h"
#include "store/postgres/postgres_store.h"
#include "store/postgres/rows.h"
#include "store/postgres/sql_error.h"

// The verb that makes instances.

namespace ebb {

namespace sql = postgres::sql;
using postgres::Arguments;
using postgres::Array;
using postgres::Connection;
using postgres::OrNull;

namespace {

/// Instances as arrays, one for each column, with their events and tasks.
class InstanceColumns {
 public:
    void add(const NewInstance& instance) {
        const InstanceRow& row = instance.row;
        id_.add(row.id);
        const auto ord = static_cast<std::int64_t>(id_.size());
        workflow_.add(words_.number_of(row.workflow));
        version_.add(std::int32_t{row.version});
        key_.add(OrNull(row.key));
        status_.add(words_.number_of(to_string(row.status)));
        revision_.add(row.revision);
        priority_.add(std::int32_t{row.priority});
        created_at_.add(row.created_at);
        updated_at_.add(row.updated_at);
        finished_at_.add(row.finished_at);
        state_.add(row.state);
        for (const HistoryEvent& event : instance.history) events_.add(ord, event, words_);
        effects_.add(row.id, row.revision, postgres::EffectColumns::kAnyFold, instance.effects);
        const bool is_folded = postgres::is_foldable(instance);
        add_fold(is_folded ? &instance : nullptr);
        if (is_folded || is_terminal(row.status)) return;
        for (const TaskChange& change : instance.tasks) {
            tasks_.add(
                {.ord = ord,
                 .change = change,
                 .rank = rank_of(change.due, row.priority),
                 .now = row.created_at,
                 .lease_owner = instance.lease_owner},
                words_
            );
            task_keys_.add(OrNull(change.concurrency_key));
            if (change.concurrency_key.empty()) continue;
            key_id_.add(row.id);
            key_token_.add(change.token);
            key_text_.add(change.concurrency_key);
            key_revision_.add(row.revision);
            key_fold_.add(static_cast<std::int32_t>(postgres::Fold::None));
        }
    }

    /// Runs start_instances, and what gives the tasks their keys and writes side rows where there
    /// are any, in one transaction.
    void start(Connection& connection, std::optional<TimePoint> now) {
        const Arguments start = arguments(now);
        if (key_id_.size() == 0 && effects_.is_empty()) {
            connection.run(sql::start_instances, start);
            return;
        }
        const Arguments keys =
            Arguments::of(key_id_, key_token_, key_text_, key_revision_, key_fold_);
        std::vector<postgres::Call> calls{{sql::start_instances, start}};
        if (key_id_.size() > 0) calls.push_back({sql::key_tasks, keys});
        effects_.append_to(calls);
        connection.run(calls);
    }

    /// The answer is that of start_absent_instances. Side rows are written also for one that exists
    /// as it was started.
    postgres::Result start_absent(Connection& connection, std::optional<TimePoint> now) {
        Arguments start = arguments(now);
        start.add(key_);
        start.add(task_keys_);
        if (effects_.is_empty()) return connection.run(sql::start_absent_instances, start);
        std::vector<postgres::Call> calls{{sql::start_absent_instances, start}};
        effects_.append_to(calls);
        return std::move(connection.run(calls).front());
    }

 private:
    /// Null: its tasks have rows.
    void add_fold(const NewInstance* instance) {
        if (instance == nullptr) {
            for (Array* column : {&lease_owner_, &lease_handler_, &lease_queue_}) {
                column->add(std::int32_t{0});
            }
            return;
        }
        const TaskChange& task = instance->tasks.front();
        lease_owner_.add(words_.number_of(instance->lease_owner));
        lease_handler_.add(words_.number_of(task.handler));
        lease_queue_.add(words_.number_of(task.queue));
    }

    Arguments arguments(std::optional<TimePoint> now) const {
        Arguments arguments = Arguments::of(words_.array());
        for (const Array* column :
             {&id_,
              &workflow_,
              &version_,
              &status_,
              &revision_,
              &priority_,
              &created_at_,
              &updated_at_}) {
            arguments.add(*column);
        }
        arguments.add_sparse(finished_at_);
        arguments.add(state_);
        events_.append_to(arguments);
        tasks_.append_to(arguments);
        arguments.add(now);
        for (const Array* column : {&lease_owner_, &lease_handler_, &lease_queue_}) {
            arguments.add_sparse(*column);
        }
        return arguments;
    }

    postgres::Words words_;
    Array id_{Array::Of::Uuid};
    Array workflow_{Array::Of::Integer};
    Array version_{Array::Of::Integer};
    Array key_{Array::Of::Text};
    Array status_{Array::Of::Integer};
    Array revision_{Array::Of::Bigint};
    Array priority_{Array::Of::Integer};
    Array created_at_{Array::Of::Bigint};
    Array updated_at_{Array::Of::Bigint};
    Array finished_at_{Array::Of::Bigint};
    Array state_{Array::Of::Text};
    // Of a folded task.
    Array lease_owner_{Array::Of::Integer};
    Array lease_handler_{Array::Of::Integer};
    Array lease_queue_{Array::Of::Integer};
    postgres::EventColumns events_;
    postgres::TaskColumns tasks_;
    Array task_keys_{Array::Of::Text};  // of each task
    // Of those that have one.
    Array key_id_{Array::Of::Uuid};
    Array key_token_{Array::Of::Bigint};
    Array key_text_{Array::Of::Text};
    Array key_revision_{Array::Of::Bigint};
    Array key_fold_{Array::Of::Integer};
    postgres::EffectColumns effects_;
};

/// Is it what start_instance is for?
bool is_simple(std::span<const NewInstance> instances) {
    const NewInstance& first = instances.front();
    return instances.size() == 1 && first.row.key.empty() && !is_terminal(first.row.status) &&
           first.row.finished_at == TimePoint{} && first.history.size() == 1 &&
           first.tasks.size() == 1 && first.tasks.front().concurrency_key.empty() &&
           first.effects.is_empty();
}

Arguments simple_arguments(const NewInstance& instance, std::optional<TimePoint> now) {
    const InstanceRow& row = instance.row;
    const TaskChange& task = instance.tasks.front();
    Arguments arguments = Arguments::of(
        row.id,
        row.workflow,
        std::int32_t{row.version},
        to_string(row.status),
        row.revision,
        std::int32_t{row.priority},
        row.created_at,
        row.updated_at,
        row.state
    );
    postgres::add_event(arguments, instance.history.front());
    arguments.add(task.token);
    arguments.add(task.handler);
    arguments.add(task.queue);
    arguments.add(task.due);
    arguments.add(rank_of(task.due, row.priority));
    arguments.add(OrNull(task.is_continued ? std::string_view(instance.lease_owner) : ""));
    arguments.add(now);
    const bool is_folded = postgres::is_foldable(instance);
    for (const std::string* word : {&instance.lease_owner, &task.handler, &task.queue}) {
        arguments.add(OrNull(is_folded ? std::string_view(*word) : ""));
    }
    return arguments;
}

bool has_key(const NewInstance& instance) {
    return !instance.row.key.empty();
}

}  // namespace

std::vector<StartResult> PostgresStore::start(std::span<const NewInstance> instances) {
    if (instances.empty()) return {};
    std::vector<StartResult> results = perform(Repeat::Freely, [&](Connection& connection) {
        const bool has_keys = std::any_of(instances.begin(), instances.end(), has_key);
        return has_keys ? start_absent(connection, instances) : start_new(connection, instances);
    });
    note_started(instances);
    return results;
}

std::vector<StartResult> PostgresStore::start_new(
    Connection& connection, std::span<const NewInstance> instances
) {
    std::vector<StartResult> results;
    InstanceColumns columns;
    const bool is_single = is_simple(instances);
    for (const NewInstance& instance : instances) {
        if (!is_single) columns.add(instance);
        results.push_back({StartResult::Kind::Created, instance.row.id});
    }
    try {
        if (is_single) {
            connection.run(sql::start_instance, simple_arguments(instances.front(), given_time()));
        } else {
            columns.start(connection, given_time());
        }
        return results;
    } catch (const postgres::SqlError& error) {
        if (!error.is_duplicate()) throw;
    }
    return start_absent(connection, instances);
}

void PostgresStore::note_started(std::span<const NewInstance> instances) {
    std::map<std::string_view, std::vector<InstanceId>> leased;
    for (const NewInstance& instance : instances) {
        const std::string_view owner = instance.lease_owner;
        if (!owner.empty()) leased[owner].push_back(instance.row.id);
        if (!claim_marks_.wants_puts()) continue;
        for (const TaskChange& task : instance.tasks) {
            const bool is_leased = task.is_continued && !owner.empty();
            if (is_leased) continue;
            claim_marks_.note_put(
                task.handler, task.queue, rank_of(task.due, instance.row.priority)
            );
        }
    }
    for (const auto& [worker, ids] : leased) lease_marks_.note_leased(worker, ids);
    folded_tasks_.note_started(instances);
}

std::vector<StartResult> PostgresStore::start_absent(
    Connection& connection, std::span<const NewInstance> instances
) {
    InstanceColumns columns;
    std::unordered_set<InstanceId> sent;
    for (const NewInstance& instance : instances) {
        if (sent.insert(instance.row.id).second) columns.add(instance);
    }
    std::unordered_set<InstanceId> added;
    const postgres::Result rows = columns.start_absent(connection, given_time());
    for (int row = 0; row < rows.rows(); ++row) added.insert(rows.id(row, 0));

    std::vector<StartResult> results;
    Array ids(Array::Of::Uuid);
    Array workflows(Array::Of::Text);
    Array keys(Array::Of::Text);
    std::vector<std::size_t> absent;
    for (const NewInstance& instance : instances) {
        results.push_back({StartResult::Kind::Created, instance.row.id});
        if (added.contains(instance.row.id)) continue;
        absent.push_back(results.size() - 1);
        ids.add(instance.row.id);
        workflows.add(instance.row.workflow);
        keys.add(OrNull(instance.row.key));
    }
    if (absent.empty()) return results;
    const postgres::Result found =
        connection.run(sql::find_started, Arguments::of(ids, workflows, keys));
    for (std::size_t i = 0; i < absent.size(); ++i) {
        const int row = static_cast<int>(i);
        if (found.boolean(row, 0)) continue;
        if (found.is_null(row, 1)) {
            throw Error(
                ErrorCode::StoreBusy,
                "An instance with the same key was deleted while this one was started; try again."
            );
        }
        results[absent[i]] = {StartResult::Kind::Existing, found.id(row, 1)};
    }
    return results;
}

}  // namespace ebb
