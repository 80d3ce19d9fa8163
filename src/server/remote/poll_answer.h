#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <ebb/handler.h>

#include "server/remote/remote_worker.h"
#include "support/json_writer.h"

namespace ebb::server {

/// The answer to a poll, written as text: a busy worker gets thousands of tasks in a second. A
/// worker sees what its handlers need, so payloads stand in it whole.
class PollAnswer {
 public:
    struct Rest {
        const std::vector<TaskResult>& results;
        const std::vector<std::string_view>& stops;  ///< tasks whose handlers have to stop
        const std::vector<std::string>& lost;        ///< tasks that the worker no longer has
        TimePoint lease_until{};
        bool is_draining = false;
    };

    PollAnswer();

    void add_task(std::string_view token, const StepContext& context, const Payload& input);

    bool has_tasks() const { return has_tasks_; }

    /// Ends the answer.
    std::string take(const Rest& rest);

 private:
    JsonWriter writer_;
    bool has_tasks_ = false;
};

}  // namespace ebb::server
