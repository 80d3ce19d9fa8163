#include "core/predicate/explain.h"

#include <utility>

#include "core/predicate/code.h"

namespace ebb::predicate {

namespace {

class Explainer {
 public:
    Explainer(const Code& code, std::span<const Datum> row) : code_(code), row_(row) {}

    std::vector<BlockingPart> explain(NodeId id) const {
        const CodeNode& node = code_.node(id);
        const Predicate part = compiled(node);
        if (is_true(part)) return {};
        if (node.op == Op::And) return all_of(node);
        if (node.op == Op::Or) return fewest_of(node);
        return {{.source = part.source(), .reads = part.reads()}};
    }

 private:
    const Code& code_;
    std::span<const Datum> row_;

    Predicate compiled(const CodeNode& node) const {
        return Predicate::compile(
            std::string_view(code_.source).substr(node.offset, node.end - node.offset),
            code_.columns
        );
    }

    bool is_true(const Predicate& part) const {
        try {
            return part.holds(row_);
        } catch (const PredicateError&) {
            return false;
        }
    }

    std::vector<BlockingPart> all_of(const CodeNode& node) const {
        std::vector<BlockingPart> parts;
        for (std::int32_t i = 0; i < node.count; ++i) {
            for (BlockingPart& part : explain(code_.operand(node, i))) {
                parts.push_back(std::move(part));
            }
        }
        return parts;
    }

    std::vector<BlockingPart> fewest_of(const CodeNode& node) const {
        std::vector<BlockingPart> fewest;
        for (std::int32_t i = 0; i < node.count; ++i) {
            std::vector<BlockingPart> parts = explain(code_.operand(node, i));
            if (i == 0 || parts.size() < fewest.size()) fewest = std::move(parts);
        }
        return fewest;
    }
};

}  // namespace

std::vector<BlockingPart> blocking_parts(const Predicate& condition, std::span<const Datum> row) {
    return Explainer(condition.code(), row).explain(condition.code().root);
}

}  // namespace ebb::predicate
