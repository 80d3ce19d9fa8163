#pragma once

#include <array>
#include <cstddef>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/expression/code.h"
#include "support/pattern.h"

namespace ebb::expression {

/// What one evaluation uses up: steps, memory, the place it is at. Its values die with it.
///
/// An error of the expression (`fail`) is a value, so that `&&`, `||`, `all` and `exists` can
/// absorb it; an exceeded limit is thrown and cannot be absorbed.
class Context {
 public:
    explicit Context(const Code& code)
        : code_(code),
          steps_left_(code.limits.steps_max),
          arena_(first_memory_.data(), first_memory_.size()) {}

    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    void set_place(std::uint32_t place) { place_ = place; }

    /// Throws ExpressionError when the steps are used up.
    void charge(std::int64_t steps) {
        steps_left_ -= steps;
        if (steps_left_ < 0) throw_out_of_steps();
    }

    /// What reading or copying a text costs: a step for every kBytesPerStep bytes.
    void charge_bytes(std::size_t bytes) {
        charge(static_cast<std::int64_t>(bytes / kBytesPerStep));
    }

    void check_bytes(std::size_t bytes) const {
        if (bytes > code_.limits.result_bytes_max) throw_too_large();
    }

    /// A list or a map of so many elements must not be larger than a text may be.
    void check_elements(std::size_t elements) const { check_bytes(elements * sizeof(Value)); }

    void check_value_depth(int depth) const {
        if (depth > kValueDepthMax) throw_too_deep();
    }

    template <typename... Args>
    Value fail(fmt::format_string<Args...> format, Args&&... args) {
        return fail_with(fmt::format(format, std::forward<Args>(args)...));
    }

    Value fail_with(std::string_view message);
    /// There is no such field or key; the message will say what the map has instead.
    Value fail_missing(std::string_view what, const Value& map, const Value& key);
    /// `operation` ("The operator +", "size()") has no meaning for these types.
    Value fail_types(std::string_view operation, const Value& a, const Value& b);

    /// A copy of `text` that lives as long as the evaluation; charged and bounded.
    Value text(std::string_view text);
    /// The compiled pattern, which is kept for the next element of a loop. Throws Error.
    const Pattern& pattern(std::string_view text);
    List* new_list(std::size_t reserved = 0);
    Map* new_map(std::size_t reserved = 0);

    std::pmr::memory_resource* arena() { return &arena_; }

    const Code& code() const { return code_; }

    [[noreturn]] void throw_failure(const Failure& failure) const;

    static constexpr std::size_t kBytesPerStep = 256;
    /// How deep a value may be nested that is compared or given back.
    static constexpr int kValueDepthMax = 256;

 private:
    [[noreturn]] void throw_out_of_steps() const;
    [[noreturn]] void throw_too_large() const;
    [[noreturn]] void throw_too_deep() const;
    std::string_view keep(std::string_view text);

    const Code& code_;
    std::int64_t steps_left_;
    std::uint32_t place_ = 0;
    std::optional<Pattern> pattern_;
    std::string pattern_text_;
    // Most evaluations need no memory beyond this.
    alignas(std::max_align_t) std::array<std::byte, 512> first_memory_;
    std::pmr::monotonic_buffer_resource arena_;
};

}  // namespace ebb::expression
