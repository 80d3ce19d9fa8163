// What a handler logs.

#include "call/port.h"

#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ebb {
namespace {

class RecordingSink : public LogSink {
 public:
    std::vector<std::string> fields;

    bool is_enabled(LogLevel) const noexcept override { return true; }

    void write(LogLevel, std::string_view, std::span<const LogField> written) noexcept override {
        for (const LogField& field : written) {
            fields.push_back(std::string(field.key) + "=" + field.value);
        }
    }
};

TEST(HandlerLog, a_field_never_hides_what_ebb_writes) {
    const auto sink = std::make_shared<RecordingSink>();
    StepContext context;
    context.workflow = "order";
    context.step = "pay";
    context.handler = "charge";
    context.attempt = 2;
    const LogField fields[] = {
        {"cents", 7},
        {"attempt", 9},
        {"message", "x"},
        {"time", "now"},
        {"level", "low"},
        {"event", "e"},
        {"instance", 1},
        {"workflow", "w"},
        {"step", "s"},
        {"handler", "h"},
    };
    write_handler_log(Log(sink), context, LogLevel::Info, "busy", fields);
    EXPECT_THAT(
        sink->fields,
        ::testing::ElementsAre(
            "instance=00000000-0000-0000-0000-000000000000",
            "workflow=order",
            "step=pay",
            "handler=charge",
            "attempt=2",
            "message=busy",
            "cents=7",
            "attempt_=9",
            "message_=x",
            "time_=now",
            "level_=low",
            "event_=e",
            "instance_=1",
            "workflow_=w",
            "step_=s",
            "handler_=h"
        )
    );
}

}  // namespace
}  // namespace ebb
