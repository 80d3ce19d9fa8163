#include "cli/watched_handlers.h"

#include <utility>

#include <ebb/completion.h>

namespace ebb::cli {

HandlerRegistry watch_handlers(
    const HandlerRegistry& handlers,
    const Clock& clock,
    std::function<void(const CallStarted&)> watcher
) {
    const auto tell = [watcher = std::move(watcher), &clock](const StepContext& context) {
        watcher({
            .instance = context.instance,
            .node = context.step,
            .handler = context.handler,
            .attempt = context.attempt,
            .max_attempts = context.max_attempts,
            .is_compensation = context.compensates.has_value(),
            .at = clock.now(),
        });
    };
    HandlerRegistry watched;
    for (const std::string& name : handlers.names()) {
        // What needs no thread must not get one here.
        if (const AsyncHandler* begin = handlers.find_async(name)) {
            watched.add_async_raw(
                name,
                [begin, tell](const Payload& input, const detail::CompletionPtr& completion) {
                    tell(detail::context_of(*completion));
                    (*begin)(input, completion);
                }
            );
        } else {
            const Handler* handler = handlers.find(name);
            watched.add_raw(
                name,
                [handler, tell](const Payload& input, const StepContext& context) {
                    tell(context);
                    return (*handler)(input, context);
                }
            );
        }
        watched.set_grace(name, handlers.grace(name));
    }
    return watched;
}

}  // namespace ebb::cli
