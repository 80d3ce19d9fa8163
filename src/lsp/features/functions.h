#pragma once

#include <span>
#include <string_view>

namespace ebb::lsp {

/// A function, a method or a macro of expressions, for people.
struct FunctionText {
    std::string_view name;
    bool is_method = false;
    std::string_view signature;
    std::string_view text;
    std::string_view example{};  ///< a call; a test evaluates it
    std::string_view result{};   ///< as JSON
};

/// Every name that an expression can call; a test compares them with the language's own table.
std::span<const FunctionText> function_texts();

/// The variables of expressions; `signature` is what they are. They have no examples.
std::span<const FunctionText> variable_texts();

}  // namespace ebb::lsp
