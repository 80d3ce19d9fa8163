#include "core/expression/cache.h"

#include <functional>
#include <utility>

namespace ebb::expression {

namespace {

bool are_equal(const ExpressionLimits& a, const ExpressionLimits& b) {
    return a.source_bytes_max == b.source_bytes_max && a.depth_max == b.depth_max &&
           a.steps_max == b.steps_max && a.result_bytes_max == b.result_bytes_max;
}

std::size_t hash_of(std::string_view source) {
    return std::hash<std::string_view>()(source);
}

}  // namespace

CodeCache::Entries::iterator CodeCache::find_entry(
    std::size_t hash, std::string_view source, const ExpressionLimits& limits
) {
    const auto [begin, end] = by_hash_.equal_range(hash);
    for (auto at = begin; at != end; ++at) {
        const Code& code = *at->second->code;
        if (code.source == source && are_equal(code.limits, limits)) return at->second;
    }
    return entries_.end();
}

std::shared_ptr<const Code> CodeCache::find(
    std::string_view source, const ExpressionLimits& limits
) {
    const std::size_t hash = hash_of(source);
    const Lock lock(mutex_);
    const auto found = find_entry(hash, source, limits);
    if (found == entries_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found);
    return found->code;
}

std::shared_ptr<const Code> CodeCache::keep(std::shared_ptr<const Code> code) {
    const std::size_t hash = hash_of(code->source);
    const Lock lock(mutex_);
    const auto found = find_entry(hash, code->source, code->limits);
    if (found != entries_.end()) return found->code;
    if (entries_max_ == 0 || code->source.size() > source_bytes_max_) return code;
    while (entries_.size() >= entries_max_ ||
           source_bytes_ + code->source.size() > source_bytes_max_) {
        drop_oldest();
    }
    source_bytes_ += code->source.size();
    entries_.push_front({.hash = hash, .code = code});
    by_hash_.emplace(hash, entries_.begin());
    return code;
}

void CodeCache::drop_oldest() {
    const auto oldest = std::prev(entries_.end());
    const auto [begin, end] = by_hash_.equal_range(oldest->hash);
    for (auto at = begin; at != end; ++at) {
        if (at->second != oldest) continue;
        by_hash_.erase(at);
        break;
    }
    source_bytes_ -= oldest->code->source.size();
    entries_.erase(oldest);
}

std::size_t CodeCache::size() const {
    const Lock lock(mutex_);
    return entries_.size();
}

CodeCache& process_cache() {
    // Compiled code is some twenty times as large as its source: this keeps below 16 MiB.
    static CodeCache cache(10'000, std::size_t{512} << 10);
    return cache;
}

}  // namespace ebb::expression
