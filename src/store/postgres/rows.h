#pragma once

#include "store/postgres/arguments.h"
#include "store/postgres/result.h"
#include "store/postgres/words.h"
#include "store/store.h"

// Converts rows to structs and structs to columns. An invalid row throws CorruptState, which names
// the row.

namespace ebb::postgres {

/// Columns 0 to 10 in the order of the statement load_instance.
InstanceRow instance_row(const Result& rows, int row);

/// The columns of history_forward, of which `first` is the first.
HistoryEvent history_event(const Result& rows, int row, const InstanceId& instance, int first = 0);

/// The first 28 columns of claim_tasks.
Claim claim_of(const Result& rows, int row);

/// The columns of list_workers.
WorkerRow worker_row(const Result& rows, int row);

/// One event as twelve arguments: all of its fields except the instance.
void add_event(Arguments& arguments, const HistoryEvent& event);

/// Events as arrays, one for each column of the history.
class EventColumns {
 public:
    /// `ord`: the place of the event's instance in the statement's array of ids, from 1.
    void add(std::int64_t ord, const HistoryEvent& event, Words& words);
    /// In the order of the statements start_instances and commit_and_remove.
    void append_to(Arguments& arguments) const;

 private:
    Array ord_{Array::Of::Bigint};
    Array seq_{Array::Of::Bigint};
    Array type_{Array::Of::Integer};
    Array node_{Array::Of::Integer};
    Array path_{Array::Of::Integer};
    Array token_{Array::Of::Bigint};
    Array visit_{Array::Of::Bigint};
    Array attempt_{Array::Of::Integer};
    Array ref_{Array::Of::Bigint};
    Array worker_{Array::Of::Integer};
    Array started_at_{Array::Of::Bigint};
    Array at_{Array::Of::Bigint};
    Array payload_{Array::Of::Text};
};

/// Tasks to put, as arrays, one for each column.
class TaskColumns {
 public:
    struct Put {
        std::int64_t ord = 0;  ///< as for an event
        const TaskChange& change;
        std::int64_t rank = 0;         ///< the rank to store, or the rank for priority 0
        TimePoint now{};               ///< the present time of the process that made the change
        std::string_view lease_owner;  ///< the worker that keeps the lease of a continued task
    };

    void add(const Put& put, Words& words);
    void append_to(Arguments& arguments) const;

    bool is_empty() const { return token_.size() == 0; }

 private:
    Array ord_{Array::Of::Bigint};
    Array token_{Array::Of::Bigint};
    Array handler_{Array::Of::Integer};
    Array queue_{Array::Of::Integer};
    Array due_at_{Array::Of::Bigint};
    Array rank_{Array::Of::Bigint};
    Array now_{Array::Of::Bigint};
    Array lease_owner_{Array::Of::Integer};
};

}  // namespace ebb::postgres
