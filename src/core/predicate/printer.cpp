// Writes a condition as PostgreSQL: every literal with its type, every operator and function with
// its schema, every conversion said, so that neither a session's settings nor its search_path
// change what it means.

#include <array>
#include <string>

#include <fmt/format.h>

#include "core/predicate/code.h"
#include "core/predicate/time_values.h"

namespace ebb::predicate {

namespace {

class Printer {
 public:
    explicit Printer(const Code& code) : code_(code) {}

    std::string print(NodeId id) {
        write(id);
        return std::move(out_);
    }

 private:
    const Code& code_;
    std::string out_;

    const CodeNode& operand_node(const CodeNode& node, std::int32_t i) const {
        return code_.node(code_.operand(node, i));
    }

    void text(std::string_view text) {
        // A backslash means the same under every standard_conforming_strings only in E''.
        const bool has_backslash = text.find('\\') != std::string_view::npos;
        out_ += has_backslash ? " E'" : "'";
        for (const char c : text) {
            if (c == '\'' || (c == '\\' && has_backslash)) out_ += c;
            out_ += c;
        }
        out_ += '\'';
    }

    void write_constant(const CodeNode& node) {
        const Datum& datum = code_.constant(node);
        if (datum.is_null) {
            out_ += "NULL";
        } else {
            text(text_of(node.type, view_of(datum)));
        }
        out_ += "::";
        write_type(node.type == Type::Unknown ? Type::Text : node.type);
    }

    void write_type(Type type) {
        // Names with a space belong to the grammar, which needs no schema.
        if (type == Type::Double || type == Type::Boolean || type == Type::Int4 ||
            type == Type::Int8 || type == Type::Numeric || type == Type::Interval) {
            out_ += to_string(type);
        } else {
            out_ += "pg_catalog.";
            out_ += to_string(type);
        }
    }

    void list(const CodeNode& node, std::string_view between, std::int32_t first = 0) {
        for (std::int32_t i = first; i < node.count; ++i) {
            if (i > first) out_ += between;
            write(code_.operand(node, i));
        }
    }

    /// A text operand, which compares by its bytes.
    void write_text(NodeId id) {
        const bool is_text = code_.node(id).type == Type::Text;
        if (is_text) out_ += '(';
        write(id);
        if (is_text) out_ += " COLLATE \"C\")";
    }

    void infix(const CodeNode& node, std::string_view symbol) {
        out_ += '(';
        write_text(code_.operand(node, 0));
        out_ += fmt::format(" OPERATOR(pg_catalog.{}) ", symbol);
        write_text(code_.operand(node, 1));
        out_ += ')';
    }

    void postfix(const CodeNode& node, std::string_view words) {
        out_ += '(';
        write(code_.operand(node, 0));
        out_ += words;
        out_ += ')';
    }

    void keyword(const CodeNode& node, std::string_view name) {
        out_ += name;
        out_ += '(';
        for (std::int32_t i = 0; i < node.count; ++i) {
            if (i > 0) out_ += ", ";
            write_text(code_.operand(node, i));
        }
        out_ += ')';
    }

    /// IN, IS DISTINCT FROM and NULLIF look for their `=` in the search_path.
    void membership(const CodeNode& node) {
        out_ += node.op == Op::NotIn ? "(NOT (" : "((";
        for (std::int32_t i = 1; i < node.count; ++i) {
            if (i > 1) out_ += " OR ";
            write_text(code_.operand(node, 0));
            out_ += " OPERATOR(pg_catalog.=) ";
            write_text(code_.operand(node, i));
        }
        out_ += "))";
    }

    void distinctness(const CodeNode& node) {
        // (a = b) is unknown when one is NULL; then they are the same only when both are.
        out_ += node.op == Op::IsDistinct ? "(NOT COALESCE(" : "(COALESCE(";
        write_text(code_.operand(node, 0));
        out_ += " OPERATOR(pg_catalog.=) ";
        write_text(code_.operand(node, 1));
        out_ += ", (";
        write(code_.operand(node, 0));
        out_ += ") IS NULL AND (";
        write(code_.operand(node, 1));
        out_ += ") IS NULL))";
    }

    void write_case(const CodeNode& node) {
        out_ += "(CASE";
        for (std::int32_t i = 0; i + 1 < node.count; i += 2) {
            out_ += " WHEN ";
            write(code_.operand(node, i));
            out_ += " THEN ";
            write(code_.operand(node, i + 1));
        }
        if (node.count % 2 == 1) {
            out_ += " ELSE ";
            write(code_.operand(node, node.count - 1));
        }
        out_ += " END)";
    }

    void write_null_if(const CodeNode& node) {
        out_ += "(CASE WHEN ";
        write(code_.operand(node, 1));
        out_ += " THEN NULL ELSE ";
        write(code_.operand(node, 0));
        out_ += " END)";
    }

    void write_sum(const CodeNode& node, std::string_view symbol) {
        if (node.type != Type::Timestamp) return infix(node, symbol);
        out_ += "((";
        write_utc(code_.operand(node, 0));
        out_ += fmt::format(" OPERATOR(pg_catalog.{}) ", symbol);
        write(code_.operand(node, 1));
        out_ += ") AT TIME ZONE 'UTC')";
    }

    void write_utc(NodeId id) {
        out_ += '(';
        write(id);
        out_ += " AT TIME ZONE 'UTC')";
    }

    void write_cast(const CodeNode& node) {
        const Type from = operand_node(node, 0).type;
        const NodeId operand = code_.operand(node, 0);
        if (node.type == Type::Timestamp) {
            out_ += "((";
            write(operand);
            out_ += ")::pg_catalog.timestamp AT TIME ZONE 'UTC')";
        } else if (from == Type::Timestamp) {
            out_ += '(';
            write_utc(operand);
            out_ += "::pg_catalog.date)";
        } else {
            out_ += "((";
            write(operand);
            out_ += ")::";
            write_type(node.type);
            out_ += ')';
        }
    }

    void write_like(const CodeNode& node) {
        const bool ignores_case = node.op == Op::ILike || node.op == Op::NotILike;
        const bool is_negated = node.op == Op::NotLike || node.op == Op::NotILike;
        out_ += '(';
        write_text(code_.operand(node, 0));
        out_ += fmt::format(
            " OPERATOR(pg_catalog.{}~~{}) pg_catalog.like_escape(",
            is_negated ? "!" : "",
            ignores_case ? "*" : ""
        );
        write(code_.operand(node, 1));
        out_ += ", ";
        write(code_.operand(node, 2));
        out_ += "))";
    }

    void write_call(const CodeNode& node) {
        constexpr std::array<std::string_view, 14> kNames{
            "lower",
            "upper",
            "length",
            "btrim",
            "ltrim",
            "rtrim",
            "substr",
            "left",
            "right",
            "starts_with",
            "abs",
            "ceil",
            "floor",
            "round",
        };
        out_ += "pg_catalog.";
        out_ += kNames[static_cast<std::size_t>(node.function)];
        out_ += '(';
        for (std::int32_t i = 0; i < node.count; ++i) {
            if (i > 0) out_ += ", ";
            write_text(code_.operand(node, i));
        }
        out_ += ')';
    }

    void write(NodeId id) {
        const CodeNode& node = code_.node(id);
        switch (node.op) {
            case Op::Constant:
                return write_constant(node);
            case Op::Column:
                out_ += '"' + code_.columns[static_cast<std::size_t>(node.index)].name + '"';
                return;
            case Op::And:
            case Op::Or:
                out_ += '(';
                list(node, node.op == Op::And ? " AND " : " OR ");
                out_ += ')';
                return;
            case Op::Not:
                out_ += "(NOT ";
                list(node, "");
                out_ += ')';
                return;
            case Op::Between:
            case Op::NotBetween:
                out_ += node.op == Op::Between ? "((" : "(NOT (";
                list(node, " AND ");
                out_ += "))";
                return;
            case Op::Case:
                return write_case(node);
            case Op::NullIf:
                return write_null_if(node);
            case Op::Cast:
                return write_cast(node);
            case Op::Like:
            case Op::NotLike:
            case Op::ILike:
            case Op::NotILike:
                return write_like(node);
            case Op::Call:
                return write_call(node);
            case Op::In:
            case Op::NotIn:
                return membership(node);
            case Op::IsDistinct:
            case Op::IsNotDistinct:
                return distinctness(node);
            default:
                return write_plain(node);
        }
    }

    void write_plain(const CodeNode& node) {
        switch (node.op) {
            case Op::IsNull:
                return postfix(node, " IS NULL");
            case Op::IsNotNull:
                return postfix(node, " IS NOT NULL");
            case Op::IsTrue:
                return postfix(node, " IS TRUE");
            case Op::IsNotTrue:
                return postfix(node, " IS NOT TRUE");
            case Op::IsFalse:
                return postfix(node, " IS FALSE");
            case Op::IsNotFalse:
                return postfix(node, " IS NOT FALSE");
            case Op::Coalesce:
                return keyword(node, "COALESCE");
            case Op::Greatest:
                return keyword(node, "GREATEST");
            case Op::Least:
                return keyword(node, "LEAST");
            case Op::Negate:
                out_ += "(OPERATOR(pg_catalog.-) ";
                list(node, "");
                out_ += ')';
                return;
            case Op::Add:
                return write_sum(node, "+");
            case Op::Subtract:
                return write_sum(node, "-");
            default:
                return infix(node, symbol(node.op));
        }
    }

    static std::string_view symbol(Op op) {
        switch (op) {
            case Op::Equal:
                return "=";
            case Op::NotEqual:
                return "<>";
            case Op::Less:
                return "<";
            case Op::LessOrEqual:
                return "<=";
            case Op::Greater:
                return ">";
            case Op::GreaterOrEqual:
                return ">=";
            case Op::Multiply:
                return "*";
            case Op::Divide:
                return "/";
            case Op::Modulo:
                return "%";
            case Op::Concat:
                return "||";
            default:
                return "->>";
        }
    }
};

}  // namespace
}  // namespace ebb::predicate

namespace ebb {

std::string Predicate::to_sql() const {
    return predicate::Printer(*code_).print(code_->root);
}

}  // namespace ebb
