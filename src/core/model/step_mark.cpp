#include <ebb/diagram.h>

namespace ebb {

std::string_view to_string(StepMark::State state) {
    using enum StepMark::State;
    switch (state) {
        case Pending:
            return "pending";
        case Running:
            return "running";
        case Retrying:
            return "retrying";
        case Waiting:
            return "waiting";
        case Completed:
            return "completed";
        case Failed:
            return "failed";
        case Skipped:
            return "skipped";
        case Compensating:
            return "compensating";
        case Compensated:
            return "compensated";
        case CompensationFailed:
            return "compensation_failed";
    }
    return "unknown";
}

}  // namespace ebb
