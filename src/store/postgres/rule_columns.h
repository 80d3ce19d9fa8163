#pragma once

#include <optional>
#include <span>

#include "store/postgres/arguments.h"
#include "store/retention.h"

namespace ebb::postgres {

inline std::optional<std::int64_t> micros_of(const std::optional<Duration>& kept) {
    if (!kept) return std::nullopt;
    return kept->count();
}

/// Rules of retention as arrays.
class RuleColumns {
 public:
    explicit RuleColumns(std::span<const RetentionRule> rules) {
        for (const RetentionRule& rule : rules) {
            if (rule.workflow == kOtherWorkflows) {
                others_ = rule.keep;
                continue;
            }
            workflow_.add(rule.workflow);
            add(completed_, rule.keep.completed);
            add(failed_, rule.keep.failed);
        }
    }

    /// Three arrays, and the two times of all other workflows. They must live as long as this.
    void append_to(Arguments& arguments) const {
        arguments.add(workflow_);
        arguments.add(completed_);
        arguments.add(failed_);
        arguments.add(micros_of(others_.completed));
        arguments.add(micros_of(others_.failed));
    }

 private:
    static void add(Array& array, const std::optional<Duration>& kept) {
        if (kept) {
            array.add(std::int64_t{kept->count()});
        } else {
            array.add_null();
        }
    }

    Array workflow_{Array::Of::Text};
    Array completed_{Array::Of::Bigint};
    Array failed_{Array::Of::Bigint};
    Retention others_;
};

}  // namespace ebb::postgres
