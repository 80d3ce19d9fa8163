#include "view/worker_json.h"

#include "support/clock.h"

namespace ebb::view {

namespace {

Json rate_json(const std::optional<QueueRate>& rate) {
    if (!rate) return nullptr;
    return {{"starts", rate->starts}, {"period", format_duration(rate->period)}};
}

}  // namespace

Json worker_json(const WorkerView& worker) {
    return {
        {"id", worker.id},
        {"host", worker.host},
        {"pid", worker.pid},
        {"is_alive", worker.is_alive},
        {"is_draining", worker.is_draining},
        {"threads", worker.threads},
        {"tasks", worker.tasks},
        {"handlers", worker.handlers},
        {"queues", worker.queues},
        {"started_at", time_json(worker.started_at)},
        {"expires_at", time_json(worker.expires_at)},
    };
}

Json unserved_json(const UnservedTasks& tasks) {
    return {{"handler", tasks.handler}, {"queue", tasks.queue}, {"tasks", tasks.count}};
}

Json queue_json(const QueueView& queue) {
    return {
        {"name", queue.name},
        {"concurrency", number_json(queue.limits.concurrency)},
        {"concurrency_per_key", number_json(queue.limits.concurrency_per_key)},
        {"rate", rate_json(queue.limits.rate)},
        {"updated_at", time_json(queue.updated_at)},
        {"running", queue.running},
        {"waiting", queue.waiting},
        {"sleeping", queue.sleeping},
        {"slots", queue.slots},
        {"starts", queue.starts},
        {"next_start", time_json(queue.next_start)},
    };
}

}  // namespace ebb::view
