#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/predicate/lexer.h"
#include "yaml/line_tree.h"

// Conditions of rules, which are SQL over attributes, and the places where attributes are named.

namespace ebb::lsp {

/// From the key of `rules` that a node is in down to the node; empty if it is not in one.
std::vector<int> rules_path(const yaml::LineTree& tree, int node);

/// Is the value a condition in SQL? The `when` of a node that a transition runs is not.
bool is_condition(const yaml::LineTree& tree, int node);

/// Is it the `writes` or the `set` of a transition, which name attributes?
bool names_attributes(const yaml::LineTree& tree, int node);

/// The attributes in the order of the text: the node whose key or value is the name, and that has
/// the type, the default and so on: -1 if nothing is written yet.
struct AttributePlace {
    std::string name{};
    int node = -1;   ///< whose key or scalar is the name
    int about = -1;  ///< a scalar (the type) or a map
    bool is_key = false;
};

std::vector<AttributePlace> attributes_of(const yaml::LineTree& tree);

/// For people: `integer, default 0, external`.
std::string attribute_text(const yaml::LineTree& tree, const AttributePlace& place);

/// The tokens up to the end or to the first that is none; `is_whole` says which.
struct ConditionTokens {
    std::vector<predicate::LexedToken> tokens{};
    bool is_whole = true;
};

ConditionTokens condition_tokens(const std::string& source);

/// Where the condition names attributes, without the quotes of a quoted name.
std::vector<predicate::LexedToken> attribute_reads(
    const std::string& source, const std::set<std::string>& attributes
);

/// A word that cannot be the name of an attribute in a condition.
bool is_reserved_in_conditions(std::string_view word);

struct ConditionWord {
    std::string_view text;
    std::string_view about{};
    bool is_function = false;
};

/// What may follow the beginning of a condition, without attributes. `takes_value`: a value may,
/// and so may an attribute. Nothing may inside of a text.
struct ConditionWords {
    bool takes_value = false;
    std::vector<ConditionWord> words{};
};

ConditionWords words_after(const std::string& source);

}  // namespace ebb::lsp
