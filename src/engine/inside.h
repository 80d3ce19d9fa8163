#pragma once

#include <ebb/id.h>

namespace ebb::engine {

class Environment;

/// Marks this thread as one that calls a handler, for as long as it lives.
class Inside {
 public:
    Inside(const Environment& engine, const InstanceId& instance)
        : engine_(engine), instance_(instance), outer_(innermost_) {
        innermost_ = this;
    }

    ~Inside() { innermost_ = outer_; }

    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

    /// The call of this engine's handler that runs in this thread; null if there is none.
    static const Inside* find(const Environment& engine) {
        const Inside* each = innermost_;
        while (each != nullptr && &each->engine_ != &engine) each = each->outer_;
        return each;
    }

    const InstanceId& instance() const { return instance_; }

 private:
    static inline thread_local const Inside* innermost_ = nullptr;

    const Environment& engine_;
    const InstanceId instance_;
    const Inside* const outer_;
};

}  // namespace ebb::engine
