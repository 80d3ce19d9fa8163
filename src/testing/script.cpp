#include "testing/script.h"

#include <utility>

#include <fmt/format.h>

#include <ebb/error.h>

namespace ebb::testing {

namespace detail {

Payload ScriptState::call(const Payload& input, const StepContext& context) {
    const ScriptedCall scripted = calls[next];
    if (next + 1 < calls.size()) ++next;
    if (scripted.takes > Duration::zero()) clock->advance(scripted.takes);
    if (scripted.dies) die();
    return scripted.handler(input, context);
}

}  // namespace detail

namespace {

[[noreturn]] void refuse(const std::string& message) {
    throw Error(ErrorCode::InvalidArgument, message);
}

}  // namespace

Script& Script::calls(Handler handler) {
    state_->calls.push_back({.handler = std::move(handler)});
    return *this;
}

Script& Script::returns_payload(Payload payload) {
    return calls([payload = std::move(payload)](const Payload&, const StepContext&) {
        return payload;
    });
}

Script& Script::passes_on() {
    return calls([](const Payload& input, const StepContext&) { return input; });
}

Script& Script::fails(std::string message, std::string code) {
    return calls(
        [message = std::move(message),
         code = std::move(code)](const Payload&, const StepContext&) -> Payload {
            throw HandlerFailure(
                message, {.code = code, .is_permanent = false, .retry_after = {}, .details = {}}
            );
        }
    );
}

Script& Script::fails_for_good(std::string message, std::string code) {
    return calls(
        [message = std::move(message),
         code = std::move(code)](const Payload&, const StepContext&) -> Payload {
            throw PermanentError(message, code);
        }
    );
}

Script& Script::dies() {
    // The outcome reaches no store.
    fails("The process of the worker died.", "died");
    state_->calls.back().dies = true;
    return *this;
}

Script& Script::takes(Duration duration) {
    need_call("takes");
    if (duration < Duration::zero()) refuse("Script::takes needs a duration of at least 0.");
    state_->calls.back().takes = duration;
    return *this;
}

void Script::need_call(std::string_view what) const {
    if (!state_->is_empty()) return;
    refuse(fmt::format(
        "Script::{} is about the call before it, but the script has none: say what the handler "
        "does first, for example returns(1).{}(...).",
        what,
        what
    ));
}

Script& Script::times(int count) {
    need_call("times");
    if (count < 1) {
        refuse(fmt::format("Script::times needs a number of at least 1, not {}.", count));
    }
    const detail::ScriptedCall last = state_->calls.back();
    for (int i = 1; i < count; ++i) state_->calls.push_back(last);
    return *this;
}

}  // namespace ebb::testing
