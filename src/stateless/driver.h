#pragma once

#include <optional>

#include <ebb/stateless.h>

#include "call/entry_handlers.h"
#include "call/observers.h"
#include "core/kernel/decide.h"
#include "stateless/data.h"
#include "stateless/work.h"
#include "support/clock.h"
#include "support/json.h"
#include "support/log.h"

namespace ebb::stateless {

/// What all calls of one engine share. Constant while instances are driven.
struct Environment {
    const HandlerRegistry& handlers;
    EntryHandlers entry_handlers;
    EngineOptions options;
    const Clock& clock;
    Log log;
    Observers observers;

    PayloadLimits limits() const { return {options.payload_bytes_max, options.json_depth_max}; }
};

/// Brings one instance on: the stateless counterpart of worker and committer.
class Driver {
 public:
    Driver(const Environment& environment, Snapshot::Data& data, const ExecuteOptions& options)
        : environment_(environment), data_(data), options_(options) {}

    /// The instance comes into being.
    void start(const event::Started& started);

    /// What the outside asks for. Throws the Error that a refusal is; a repeated request changes
    /// nothing.
    void request(const Event& event);

    /// Does the next thing that is due. False: nothing is, or what is cannot be done here.
    bool advance();

 private:
    TimePoint now() const { return options_.now ? *options_.now : environment_.clock.now(); }

    /// What is done next, and what a call of it calls.
    struct Chosen {
        Work work;
        const Handler* handler = nullptr;
    };

    std::optional<Chosen> choose(TimePoint current) const;
    const Handler* find_handler(TokenId token) const;
    bool do_work(const Chosen& chosen, TimePoint current);
    bool call(const Chosen& chosen, TimePoint begun);
    static Event outcome(
        const Invocation& call, CallResult result, const StepContext& context, TimePoint ended
    );
    void commit(const Event& event, TimePoint decided);
    void accept(Decision&& decision, TimePoint now);

    const Environment& environment_;
    Snapshot::Data& data_;
    const ExecuteOptions& options_;
};

}  // namespace ebb::stateless
