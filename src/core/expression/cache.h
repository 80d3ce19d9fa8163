#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string_view>
#include <unordered_map>

#include "core/expression/code.h"
#include "support/sync.h"

namespace ebb::expression {

/// Compiled expressions by source and limits, so that a definition that is loaded again costs
/// nothing. Bounded by number and by bytes; the least recently used go first. Thread-safe.
class CodeCache {
 public:
    CodeCache(std::size_t entries_max, std::size_t source_bytes_max)
        : entries_max_(entries_max), source_bytes_max_(source_bytes_max) {}

    /// Null if it is not cached.
    std::shared_ptr<const Code> find(std::string_view source, const ExpressionLimits& limits);
    /// Returns the cached code: `code`, or an equal one that another thread has added in the
    /// meantime.
    std::shared_ptr<const Code> keep(std::shared_ptr<const Code> code);

    std::size_t size() const;

 private:
    struct Entry {
        std::size_t hash;
        std::shared_ptr<const Code> code;
    };

    using Entries = std::list<Entry>;

    Entries::iterator find_entry(
        std::size_t hash, std::string_view source, const ExpressionLimits& limits
    ) EBB_REQUIRES(mutex_);
    void drop_oldest() EBB_REQUIRES(mutex_);

    const std::size_t entries_max_;
    const std::size_t source_bytes_max_;
    mutable Mutex mutex_;
    Entries entries_ EBB_GUARDED_BY(mutex_);  // the most recently used first
    std::unordered_multimap<std::size_t, Entries::iterator> by_hash_ EBB_GUARDED_BY(mutex_);
    std::size_t source_bytes_ EBB_GUARDED_BY(mutex_) = 0;
};

/// The cache of the process.
CodeCache& process_cache();

}  // namespace ebb::expression
