#include "cli/watched_handlers.h"

namespace ebb::cli {

HandlerRegistry watch_handlers(
    const HandlerRegistry& handlers,
    const Clock& clock,
    std::function<void(const CallStarted&)> watcher
) {
    HandlerRegistry watched;
    for (const std::string& name : handlers.names()) {
        const Handler* handler = handlers.find(name);
        watched.add_raw(
            name,
            [handler, watcher, &clock](const Payload& input, const StepContext& context) {
                watcher({
                    .instance = context.instance,
                    .node = context.step,
                    .handler = context.handler,
                    .attempt = context.attempt,
                    .max_attempts = context.max_attempts,
                    .is_compensation = context.compensates.has_value(),
                    .at = clock.now(),
                });
                return (*handler)(input, context);
            }
        );
        watched.set_grace(name, handlers.grace(name));
    }
    return watched;
}

}  // namespace ebb::cli
