#include "lsp/features/conditions.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/predicate/predicate.h"

namespace ebb::lsp {

namespace {

using predicate::LexedToken;
using predicate::TokenKind;
using yaml::LineTree;
using yaml::TreeNode;

/// Words behind which a value begins.
constexpr std::array<std::string_view, 13> kBeforeValue = {
    "and",
    "or",
    "not",
    "in",
    "between",
    "like",
    "ilike",
    "escape",
    "when",
    "then",
    "else",
    "case",
    "from"
};

constexpr std::array<std::string_view, 27> kReserved = {
    "and",    "or",    "not",    "is",   "in",   "between", "like", "ilike", "escape",
    "then",   "else",  "end",    "when", "from", "for",     "as",   "using", "distinct",
    "select", "where", "exists", "any",  "all",  "some",    "with", "order", "user",
};

constexpr std::array<ConditionWord, 5> kValues = {{
    {"not", "true if what follows is false"},
    {"null", "no value"},
    {"true"},
    {"false"},
    {"case", "case when CONDITION then VALUE else VALUE end"},
}};

constexpr std::array<ConditionWord, 22> kFunctions = {{
    {"lower", "lower(text)", true},
    {"upper", "upper(text)", true},
    {"length", "length(text): in characters", true},
    {"char_length", "char_length(text): in characters", true},
    {"trim", "trim(text): without spaces around it", true},
    {"btrim", "btrim(text, characters)", true},
    {"ltrim", "ltrim(text, characters)", true},
    {"rtrim", "rtrim(text, characters)", true},
    {"substring", "substring(text, from, count)", true},
    {"substr", "substr(text, from, count)", true},
    {"left", "left(text, count)", true},
    {"right", "right(text, count)", true},
    {"starts_with", "starts_with(text, beginning)", true},
    {"abs", "abs(number)", true},
    {"ceil", "ceil(number)", true},
    {"ceiling", "ceiling(number)", true},
    {"floor", "floor(number)", true},
    {"round", "round(number)", true},
    {"coalesce", "coalesce(value, ...): the first that is not null", true},
    {"nullif", "nullif(value, other): null if they are equal", true},
    {"greatest", "greatest(value, ...)", true},
    {"least", "least(value, ...)", true},
}};

constexpr std::array<ConditionWord, 13> kOperators = {{
    {"and", "both are true"},
    {"or", "one of them is true"},
    {"is null", "has no value"},
    {"is not null", "has a value"},
    {"in", "in (value, ...)"},
    {"not in", "not in (value, ...)"},
    {"between", "between LEAST and GREATEST"},
    {"not between", "not between LEAST and GREATEST"},
    {"like", "like 'pattern': % is any text, _ one character"},
    {"not like", "not like 'pattern'"},
    {"ilike", "like, without regard to case"},
    {"is distinct from", "<>, but null is a value like another"},
    {"is not distinct from", "=, but null is a value like another"},
}};

constexpr std::array<ConditionWord, 4> kOfCase = {{{"when"}, {"then"}, {"else"}, {"end"}}};

constexpr std::array<ConditionWord, 6> kAfterIs = {
    {{"null"}, {"not null"}, {"true"}, {"false"}, {"unknown"}, {"distinct from"}}
};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_word(const LexedToken& token, std::string_view word) {
    return token.kind == TokenKind::Name && token.text == word;
}

}  // namespace

std::vector<int> rules_path(const LineTree& tree, int node) {
    std::vector<int> path;
    const int rules = tree.find(0, "rules");
    for (int at = node; rules >= 0 && at > 0; at = tree.at(at).parent) {
        if (at == rules) {
            std::reverse(path.begin(), path.end());
            return path;
        }
        path.push_back(at);
    }
    return {};
}

bool is_condition(const LineTree& tree, int node) {
    static constexpr std::array<std::string_view, 5> kSections = {
        "final", "exceptions", "invariants", "savepoints", "triggers"
    };
    const std::vector<int> path = rules_path(tree, node);
    if (path.size() != 2 && path.size() != 3) return false;
    const std::string section = tree.key(path.front());
    if (!is_one_of(kSections, section)) return false;
    if (path.size() == 3) return tree.key(node) == "when";
    const bool is_block =
        tree.at(node).kind == TreeNode::Kind::Map || tree.at(node).kind == TreeNode::Kind::List;
    return section != "triggers" && tree.at(node).has_colon && !is_block;
}

bool names_attributes(const LineTree& tree, int node) {
    const std::string key = tree.key(node);
    if (key != "writes" && key != "set") return false;
    const std::vector<int> path = rules_path(tree, node);
    if (path.empty()) return false;
    const std::string section = tree.key(path.front());
    return (section == "triggers" && path.size() == 3) ||
           (section == "on_exception" && path.size() == 2);
}

std::vector<AttributePlace> attributes_of(const LineTree& tree) {
    std::vector<AttributePlace> found;
    const int rules = tree.find(0, "rules");
    const int all = rules < 0 ? -1 : tree.find(rules, "attributes");
    if (all < 0) return found;
    for (const int child : tree.at(all).children) {
        if (tree.at(all).kind == TreeNode::Kind::Map && tree.at(child).has_colon) {
            found.push_back({tree.key(child), child, child, true});
        } else if (tree.at(child).kind == TreeNode::Kind::Map) {
            const int name = tree.find(child, "attribute");
            if (name >= 0) found.push_back({tree.scalar(name), name, child, false});
        }
    }
    return found;
}

std::string attribute_text(const LineTree& tree, const AttributePlace& place) {
    const auto said = [&](std::string_view key) -> std::string {
        const int value = place.about < 0 ? -1 : tree.find(place.about, key);
        if (value < 0) return {};
        const bool is_scalar = tree.at(value).kind == TreeNode::Kind::Scalar;
        return is_scalar ? tree.scalar(value) : std::string(tree.slice(tree.at(value).value));
    };
    const bool is_type = place.about >= 0 && tree.at(place.about).kind == TreeNode::Kind::Scalar;
    std::string text = is_type ? tree.scalar(place.about) : said("type");
    if (text.empty()) text = "text";
    if (const std::string otherwise = said("default"); !otherwise.empty()) {
        text += ", default " + otherwise;
    }
    if (said("external") == "true") text += ", external";
    return text;
}

ConditionTokens condition_tokens(const std::string& source) {
    ConditionTokens found;
    predicate::Lexer lexer(source);
    try {
        for (LexedToken token = lexer.next(); token.kind != TokenKind::End; token = lexer.next()) {
            found.tokens.push_back(std::move(token));
        }
    } catch (const PredicateError&) {
        found.is_whole = false;  // it is half typed
    }
    return found;
}

std::vector<LexedToken> attribute_reads(
    const std::string& source, const std::set<std::string>& attributes
) {
    std::vector<LexedToken> found;
    std::vector<LexedToken> tokens = condition_tokens(source).tokens;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        LexedToken& token = tokens[i];
        const bool is_name = token.kind == TokenKind::Name || token.kind == TokenKind::QuotedName;
        if (!is_name || !attributes.contains(token.text)) continue;
        if (token.kind == TokenKind::QuotedName) {
            ++token.offset;
            --token.end;
            found.push_back(token);
            continue;
        }
        const LexedToken* next = i + 1 < tokens.size() ? &tokens[i + 1] : nullptr;
        const bool is_call =
            next != nullptr && next->kind == TokenKind::Symbol && next->text == "(";
        const bool is_literal = next != nullptr && next->kind == TokenKind::Text;
        const bool is_type = i > 0 && tokens[i - 1].text == "::";
        if (!is_call && !is_literal && !is_type && !is_reserved_in_conditions(token.text)) {
            found.push_back(token);
        }
    }
    return found;
}

bool is_reserved_in_conditions(std::string_view word) {
    static constexpr std::array<std::string_view, 4> kLiterals = {"null", "true", "false", "case"};
    return is_one_of(kReserved, word) || is_one_of(kLiterals, word);
}

ConditionWords words_after(const std::string& source) {
    ConditionWords found;
    const auto [tokens, is_whole] = condition_tokens(source);
    if (!is_whole) return found;
    const auto add = [&found](const auto& words) {
        found.words.insert(found.words.end(), words.begin(), words.end());
    };
    const LexedToken* last = tokens.empty() ? nullptr : &tokens.back();
    if (last != nullptr && is_word(*last, "is")) {
        add(kAfterIs);
        return found;
    }
    const bool is_behind_value =
        last != nullptr &&
        (last->kind == TokenKind::Symbol
             ? last->text == ")"
             : last->kind != TokenKind::Name || !is_one_of(kBeforeValue, last->text));
    const auto cases = std::count_if(tokens.begin(), tokens.end(), [](const LexedToken& token) {
        return is_word(token, "case");
    });
    const auto ends = std::count_if(tokens.begin(), tokens.end(), [](const LexedToken& token) {
        return is_word(token, "end");
    });
    if (!is_behind_value) {
        found.takes_value = true;
        add(kValues);
        add(kFunctions);
    } else {
        add(kOperators);
    }
    if (cases > ends) add(kOfCase);
    return found;
}

}  // namespace ebb::lsp
