#include "core/expression/context.h"

#include <cstring>
#include <new>

#include "core/expression/describe.h"
#include "core/expression/source.h"

namespace ebb::expression {

std::string_view Context::keep(std::string_view text) {
    if (text.empty()) return {};
    auto* bytes = static_cast<char*>(arena_.allocate(text.size(), 1));
    std::memcpy(bytes, text.data(), text.size());
    return {bytes, text.size()};
}

Value Context::fail_with(std::string_view message) {
    void* memory = arena_.allocate(sizeof(Failure), alignof(Failure));
    return failure_value(::new (memory) Failure{keep(message), place_, null_value(), {}});
}

Value Context::fail_missing(std::string_view what, const Value& map, const Value& key) {
    const Value failure = fail("There is no {} {};", what, key_text(key));
    const std::string_view wanted = key.is(Kind::String) ? key.string() : std::string_view();
    const std::string_view message = failure.failure->message;
    void* memory = arena_.allocate(sizeof(Failure), alignof(Failure));
    return failure_value(::new (memory) Failure{message, place_, map, wanted});
}

Value Context::fail_types(std::string_view operation, const Value& a, const Value& b) {
    if (a.is_number() && b.is_number()) {
        return fail(
            "{} does not mix {} and {}; convert one of them with int(), uint() or double().",
            operation,
            type_name(a),
            type_name(b)
        );
    }
    return fail("{} is not defined for {} and {}.", operation, a_type(a), a_type(b));
}

Value Context::text(std::string_view text) {
    check_bytes(text.size());
    charge_bytes(text.size());
    return string_value(keep(text));
}

const Pattern& Context::pattern(std::string_view text) {
    // About the steps that compiling takes as long as.
    constexpr std::int64_t kCompileSteps = 100;
    if (!pattern_ || pattern_text_ != text) {
        charge(kCompileSteps + static_cast<std::int64_t>(text.size()));
        pattern_.emplace(text);
        pattern_text_ = text;
    }
    return *pattern_;
}

List* Context::new_list(std::size_t reserved) {
    void* memory = arena_.allocate(sizeof(List), alignof(List));
    List* list = ::new (memory) List{std::pmr::vector<Value>(&arena_)};
    list->items.reserve(reserved);
    return list;
}

Map* Context::new_map(std::size_t reserved) {
    void* memory = arena_.allocate(sizeof(Map), alignof(Map));
    Map* map = ::new (memory) Map{std::pmr::vector<std::pair<Value, Value>>(&arena_)};
    map->entries.reserve(reserved);
    return map;
}

void Context::throw_failure(const Failure& failure) const {
    std::string message(failure.message);
    if (failure.map.is_map()) message += " " + what_is_there(failure.map, failure.wanted);
    throw_at(code_.source, failure.place, message);
}

void Context::throw_out_of_steps() const {
    throw_at(
        code_.source,
        place_,
        fmt::format(
            "The evaluation needs more than {} steps, which steps_max allows.",
            code_.limits.steps_max
        )
    );
}

void Context::throw_too_large() const {
    throw_at(
        code_.source,
        place_,
        fmt::format(
            "A string, list or map that is built here is larger than {} bytes, which "
            "result_bytes_max allows.",
            code_.limits.result_bytes_max
        )
    );
}

void Context::throw_too_deep() const {
    throw_at(
        code_.source,
        place_,
        fmt::format("A value here is nested more than {} deep.", kValueDepthMax)
    );
}

}  // namespace ebb::expression
