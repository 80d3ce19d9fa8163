#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace ebb {

/// A compiled regular expression. Matching takes time linear in the text whatever the expression
/// is, so both may come from outside; in return there are no back-references and no look-around.
/// Immutable and safe to use from several threads.
class Pattern {
 public:
    /// How the text of an expression is read. EcmaScript accepts \u escapes and (?<name>...) as
    /// well.
    enum class Dialect { Re2, EcmaScript };

    static constexpr std::size_t kBytesMax = 4'096;

    /// Throws Error with InvalidArgument and the reason, without a full stop.
    explicit Pattern(std::string_view text, Dialect dialect = Dialect::Re2);
    ~Pattern();
    Pattern(Pattern&&) noexcept;
    Pattern& operator=(Pattern&&) noexcept;

    /// True if any part of `text` matches.
    bool is_found_in(std::string_view text) const;

 private:
    struct Compiled;

    std::unique_ptr<const Compiled> compiled_;
};

}  // namespace ebb
