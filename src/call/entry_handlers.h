#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include <ebb/handler.h>

#include "core/kernel/program.h"
#include "support/sync.h"

namespace ebb {

class EntryTerms;

/// The handlers of a registry, held to what a definition says about their calls: the contract of
/// their entry in `handlers:`, which may come from a file of types, and late expressions, which
/// must be filled in before a call. Both engines call handlers through it. Thread-safe.
class EntryHandlers {
 public:
    /// `registry` must outlive it.
    explicit EntryHandlers(const HandlerRegistry& registry) : registry_(registry) {}

    /// Null if the registry has no handler of that name. For an asynchronous handler: a function
    /// that waits for the completion.
    std::shared_ptr<const Handler> find(const Program& program, const std::string& name) const;
    /// The same for what the registry has found.
    std::shared_ptr<const Handler> held(
        const Program& program, const std::string& name, const Handler* registered
    ) const;
    /// Null if it is not asynchronous.
    std::shared_ptr<const AsyncHandler> find_async(const Program& program, const std::string& name)
        const;

 private:
    using Terms = std::shared_ptr<const EntryTerms>;

    Terms terms_of(const Program& program) const;

    /// More are forgotten, and made again when they are needed.
    static constexpr std::size_t kDefinitionsMax = 1'024;

    const HandlerRegistry& registry_;
    mutable Mutex mutex_;
    mutable std::map<std::pair<std::string, int>, Terms> known_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb
