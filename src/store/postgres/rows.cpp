#include "store/postgres/rows.h"

#include <fmt/format.h>

#include <ebb/error.h>

namespace ebb::postgres {

InstanceRow instance_row(const Result& rows, int row) {
    InstanceRow instance;
    instance.id = rows.id(row, 0);
    instance.workflow = rows.text(row, 1);
    instance.version = static_cast<int>(rows.integer(row, 2));
    instance.key = rows.text(row, 3);
    const auto status = parse_status(rows.text(row, 4));
    if (!status) {
        throw Error(
            ErrorCode::CorruptState,
            fmt::format(
                "The instance {} has the unknown status \"{}\".",
                instance.id.to_string(),
                rows.text(row, 4)
            )
        );
    }
    instance.status = *status;
    instance.revision = rows.integer(row, 5);
    instance.priority = static_cast<int>(rows.integer(row, 6));
    instance.created_at = rows.time(row, 7);
    instance.updated_at = rows.time(row, 8);
    instance.finished_at = rows.time(row, 9);
    instance.state = rows.text(row, 10);
    return instance;
}

HistoryEvent history_event(const Result& rows, int row, const InstanceId& instance, int first) {
    HistoryEvent event;
    event.seq = rows.integer(row, first);
    const auto type = parse_history_type(rows.text(row, first + 1));
    if (!type) {
        throw Error(
            ErrorCode::CorruptState,
            fmt::format(
                "Event {} of the instance {} has the unknown type \"{}\".",
                event.seq,
                instance.to_string(),
                rows.text(row, first + 1)
            )
        );
    }
    event.type = *type;
    event.node = rows.text(row, first + 2);
    event.path = rows.text(row, first + 3);
    event.token = rows.integer(row, first + 4);
    event.visit = rows.integer(row, first + 5);
    event.attempt = static_cast<std::int32_t>(rows.integer(row, first + 6));
    event.ref = rows.integer(row, first + 7);
    event.worker = rows.text(row, first + 8);
    event.started_at = rows.time(row, first + 9);
    event.at = rows.time(row, first + 10);
    event.payload = Payload(rows.text(row, first + 11));
    return event;
}

WorkerRow worker_row(const Result& rows, int row) {
    WorkerRow worker;
    worker.id = rows.text(row, 0);
    worker.host = rows.text(row, 1);
    worker.pid = rows.integer(row, 2);
    worker.handlers = rows.texts(row, 3);
    worker.queues = rows.texts(row, 4);
    worker.capacity = static_cast<int>(rows.integer(row, 5));
    worker.started_at = rows.time(row, 6);
    worker.expires_at = rows.time(row, 7);
    worker.is_keeper = rows.boolean(row, 8);
    return worker;
}

void add_event(Arguments& arguments, const HistoryEvent& event) {
    arguments.add(event.seq);
    arguments.add(to_string(event.type));
    arguments.add(OrNull(event.node));
    arguments.add(OrNull(event.path));
    arguments.add(OrNull(event.token));
    arguments.add(OrNull(event.visit));
    if (event.attempt == 0) {
        arguments.add_null();
    } else {
        arguments.add(std::int32_t{event.attempt});
    }
    arguments.add(OrNull(event.ref));
    arguments.add(OrNull(event.worker));
    arguments.add(OrNull(event.started_at));
    arguments.add(event.at);
    arguments.add(OrNull(event.payload));
}

void EventColumns::add(std::int64_t ord, const HistoryEvent& event, Words& words) {
    ord_.add(ord);
    seq_.add(event.seq);
    type_.add(words.number_of(to_string(event.type)));
    node_.add(words.number_of(event.node));
    path_.add(words.number_of(event.path));
    token_.add(event.token);
    visit_.add(event.visit);
    attempt_.add(event.attempt);
    ref_.add(event.ref);
    worker_.add(words.number_of(event.worker));
    started_at_.add(event.started_at);
    at_.add(event.at);
    payload_.add(OrNull(event.payload));
}

void EventColumns::append_to(Arguments& arguments) const {
    for (const Array* column : {&ord_, &seq_, &type_}) arguments.add(*column);
    for (const Array* column :
         {&node_, &path_, &token_, &visit_, &attempt_, &ref_, &worker_, &started_at_}) {
        arguments.add_sparse(*column);
    }
    arguments.add(at_);
    arguments.add(payload_);
}

void TaskColumns::add(const Put& put, Words& words) {
    const TaskChange& change = put.change;
    ord_.add(put.ord);
    token_.add(change.token);
    // The engine's own handler has the empty name.
    handler_.add(words.number_of(change.handler));
    queue_.add(words.number_of(change.queue));
    due_at_.add(change.due);
    rank_.add(put.rank);
    now_.add(put.now);
    lease_owner_.add(words.number_of(change.is_continued ? put.lease_owner : std::string_view()));
}

void TaskColumns::append_to(Arguments& arguments) const {
    for (const Array* column :
         {&ord_, &token_, &handler_, &queue_, &due_at_, &rank_, &now_, &lease_owner_}) {
        arguments.add(*column);
    }
}

}  // namespace ebb::postgres
