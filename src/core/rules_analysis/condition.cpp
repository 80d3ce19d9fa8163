#include "core/rules_analysis/condition.h"

#include <algorithm>
#include <utility>

#include "core/predicate/code.h"
#include "core/predicate/evaluator.h"

namespace ebb::rules_analysis {

namespace {

using predicate::Code;
using predicate::CodeNode;
using predicate::Datum;
using predicate::NodeId;
using predicate::Op;
using predicate::Type;

bool is_order(Op op) {
    return op == Op::Less || op == Op::LessOrEqual || op == Op::Greater || op == Op::GreaterOrEqual;
}

bool is_comparison(Op op) {
    return op == Op::Equal || op == Op::NotEqual || is_order(op) || op == Op::IsDistinct ||
           op == Op::IsNotDistinct;
}

/// Boolean operations over booleans, which have a meaning for sets of truths, too.
bool is_logic(Op op) {
    switch (op) {
        case Op::And:
        case Op::Or:
        case Op::Not:
        case Op::IsTrue:
        case Op::IsNotTrue:
        case Op::IsFalse:
        case Op::IsNotFalse:
            return true;
        default:
            return false;
    }
}

Truths of(const predicate::Value& value) {
    if (value.is_null) return kUnknown;
    return value.integer != 0 ? kTrue : kFalse;
}

Truths and_of(Truths a, Truths b) {
    Truths made = (a | b) & kFalse;
    if ((a & kTrue) != 0 && (b & kTrue) != 0) made |= kTrue;
    const bool can_be_unknown = ((a & kUnknown) != 0 && (b & (kTrue | kUnknown)) != 0) ||
                                ((b & kUnknown) != 0 && (a & (kTrue | kUnknown)) != 0);
    if (can_be_unknown) made |= kUnknown;
    return made;
}

Truths not_of(Truths a) {
    Truths made = a & kUnknown;
    if ((a & kTrue) != 0) made |= kFalse;
    if ((a & kFalse) != 0) made |= kTrue;
    return made;
}

/// IS [NOT] TRUE and IS [NOT] FALSE are never unknown.
Truths test_of(Truths a, Truths wanted, bool is_negated) {
    Truths made = 0;
    if ((a & wanted) != 0) made |= is_negated ? kFalse : kTrue;
    if ((a & ~wanted & kAnyTruth) != 0) made |= is_negated ? kTrue : kFalse;
    return made;
}

}  // namespace

/// Finds the parts of a condition that the regions of the attributes decide.
class Condition::Parts {
 public:
    Parts(const Code& code, std::vector<Cuts>& cuts) : code_(code), cuts_(cuts) {}

    /// Where the value of an operation may come from, besides constants.
    struct Sources {
        bool is_plain = true;
        bool is_folded = false;  ///< by lower() or upper()
        std::vector<int> columns{};
    };

    Sources visit(NodeId id, std::vector<bool>& is_plain) {
        const CodeNode& node = code_.node(id);
        Sources made = sources_of(node, is_plain);
        is_plain[static_cast<std::size_t>(id)] = made.is_plain;
        // A boolean has no values to tell apart but true, false and NULL.
        if (node.type == Type::Boolean) made.columns.clear();
        return made;
    }

 private:
    const Code& code_;
    std::vector<Cuts>& cuts_;

    Cuts& cuts_of(int column) { return cuts_[static_cast<std::size_t>(column)]; }

    Sources sources_of(const CodeNode& node, std::vector<bool>& is_plain) {
        Sources all;
        std::vector<Sources> operands;
        for (std::int32_t i = 0; i < node.count; ++i) {
            operands.push_back(visit(code_.operand(node, i), is_plain));
            const Sources& operand = operands.back();
            all.is_plain = all.is_plain && operand.is_plain;
            all.is_folded = all.is_folded || operand.is_folded;
            all.columns.insert(all.columns.end(), operand.columns.begin(), operand.columns.end());
        }
        if (node.op == Op::Column) return column(node);
        if (node.op == Op::Call) return call(node, std::move(all));
        if (is_comparison(node.op) || node.op == Op::In || node.op == Op::NotIn) {
            return comparison(node, operands, std::move(all));
        }
        if (node.op == Op::Greatest || node.op == Op::Least) {
            return comparison(node, operands, std::move(all));
        }
        // The value of NULLIF is its first operand; the second is the comparison.
        if (node.op == Op::NullIf) all.columns = operands.front().columns;
        all.is_plain = all.is_plain && is_choice(node.op);
        return all;
    }

    /// Yields one of its operands, or what only depends on how these compare.
    static bool is_choice(Op op) {
        switch (op) {
            case Op::Constant:
            case Op::IsNull:
            case Op::IsNotNull:
            case Op::Between:
            case Op::NotBetween:
            case Op::Case:
            case Op::Coalesce:
            case Op::NullIf:
                return true;
            default:
                return is_logic(op);
        }
    }

    Sources column(const CodeNode& node) {
        cuts_of(node.index).is_read = true;
        return {.columns = {node.index}};
    }

    Sources call(const CodeNode& node, Sources all) const {
        const bool folds = node.function == predicate::Function::Lower ||
                           node.function == predicate::Function::Upper;
        const bool is_of_column =
            node.count == 1 && code_.node(code_.operand(node, 0)).op == Op::Column;
        if (!folds || !is_of_column) {
            all.is_plain = all.columns.empty() && all.is_plain && node.count == 0;
            return all;
        }
        all.is_folded = true;
        const Cuts& cuts = cuts_[static_cast<std::size_t>(all.columns.front())];
        if (cuts.is_ordered) all.is_plain = false;
        return all;
    }

    Sources comparison(const CodeNode& node, const std::vector<Sources>& operands, Sources all) {
        const Type type = code_.node(code_.operand(node, 0)).type;
        if (type == Type::Boolean || !all.is_plain) return all;
        const auto has_columns = [](const Sources& operand) { return !operand.columns.empty(); };
        const bool is_membership = node.op == Op::In || node.op == Op::NotIn;
        const auto with_columns = std::count_if(operands.begin(), operands.end(), has_columns);
        all.is_plain = with_columns <= 1 || (is_membership && !has_columns(operands.front()));
        const bool orders = is_order(node.op) || node.op == Op::Greatest || node.op == Op::Least;
        if (all.columns.empty() || !all.is_plain) return all;
        if ((orders && (all.is_folded || type == Type::Uuid)) || type == Type::Json) {
            all.is_plain = false;
            return all;
        }
        for (const int column : all.columns) {
            cuts_of(column).is_ordered = cuts_of(column).is_ordered || orders;
            for (std::int32_t i = 0; i < node.count; ++i) {
                add_constants(code_.operand(node, i), column, all.is_folded);
            }
        }
        return all;
    }

    void add_constants(NodeId id, int column, bool is_folded) {
        const CodeNode& node = code_.node(id);
        for (std::int32_t i = 0; i < node.count; ++i) {
            add_constants(code_.operand(node, i), column, is_folded);
        }
        const bool is_value = node.op == Op::Constant && node.type != Type::Boolean;
        if (!is_value || code_.constant(node).is_null) return;
        const Datum& constant = code_.constant(node);
        if (is_folded) {
            cuts_of(column).folded.push_back(predicate::ascii_lower(constant.text));
        }
        cuts_of(column).points.push_back(constant);
    }
};

Condition::Condition(const Predicate& predicate, std::vector<Cuts>& cuts) : predicate_(predicate) {
    is_plain_.resize(predicate.code().nodes.size());
    Parts(predicate.code(), cuts).visit(predicate.code().root, is_plain_);
}

void Condition::settle(const std::vector<Cuts>& cuts) {
    std::vector<Cuts> known = cuts;
    Parts(predicate_.code(), known).visit(predicate_.code().root, is_plain_);
}

bool Condition::is_exact() const {
    return is_plain_[static_cast<std::size_t>(predicate_.code().root)];
}

namespace {

/// The truths of a condition on one row.
class Judge {
 public:
    Judge(const Code& code, const std::vector<bool>& is_plain, std::span<const Datum> row)
        : code_(code), is_plain_(is_plain), evaluator_(code, row) {}

    Truths on(NodeId id) {
        const CodeNode& node = code_.node(id);
        if (is_plain_[static_cast<std::size_t>(id)]) return of(evaluator_.evaluate(id));
        switch (node.op) {
            case Op::And:
            case Op::Between:
                return all_of(node);
            case Op::NotBetween:
                return not_of(all_of(node));
            case Op::Or:
                return any_of(node);
            case Op::Not:
                return not_of(operand(node));
            case Op::IsTrue:
            case Op::IsNotTrue:
                return test_of(operand(node), kTrue, node.op == Op::IsNotTrue);
            case Op::IsFalse:
            case Op::IsNotFalse:
                return test_of(operand(node), kFalse, node.op == Op::IsNotFalse);
            case Op::IsNull:
            case Op::IsNotNull:
            case Op::IsDistinct:
            case Op::IsNotDistinct:
                return kTrue | kFalse;
            default:
                return kAnyTruth;
        }
    }

 private:
    const Code& code_;
    const std::vector<bool>& is_plain_;
    predicate::Evaluator evaluator_;

    Truths operand(const CodeNode& node) { return on(code_.operand(node, 0)); }

    Truths all_of(const CodeNode& node) {
        Truths made = kTrue;
        for (std::int32_t i = 0; i < node.count; ++i) {
            made = and_of(made, on(code_.operand(node, i)));
        }
        return made;
    }

    Truths any_of(const CodeNode& node) {
        Truths made = kTrue;  // De Morgan
        for (std::int32_t i = 0; i < node.count; ++i) {
            made = and_of(made, not_of(on(code_.operand(node, i))));
        }
        return not_of(made);
    }
};

}  // namespace

Truths Condition::on(std::span<const Datum> row) const {
    return Judge(predicate_.code(), is_plain_, row).on(predicate_.code().root);
}

}  // namespace ebb::rules_analysis
