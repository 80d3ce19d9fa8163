#pragma once

#include <cstddef>

#include <ebb/convert.h>

// EBB_FIELDS and EBB_ENUM make your own types payloads: inputs and results of handlers, inputs of
// workflows, signals. Write them after the type, in its namespace.

/// Makes a struct a JSON object with these members:
///
///     struct Order {
///         std::string customer;
///         std::int64_t cents = 0;
///         std::optional<std::string> coupon;
///     };
///     EBB_FIELDS(Order, customer, cents, coupon)
///
/// A member's type is a number, bool, std::string, std::optional, vector, array, set, or a map with
/// std::string keys of such types, a struct or enum with a macro of its own, ebb::Json,
/// ebb::Payload (the JSON text of the member), or any type that nlohmann/json converts (include it
/// then). Every member but a std::optional must be there; members that the struct does not have are
/// ignored. Numbers are checked: what is out of range, and a fraction for an integer, is refused.
/// The struct needs a default constructor; at most 64 members.
///
/// A type that needs more has two functions in its namespace, or as friends:
///
///     void ebb_read(const ebb::ValueReader& json, T& value);
///     void ebb_write(ebb::ValueWriter& json, const T& value);
#define EBB_FIELDS(Type, ...)                                                           \
    [[maybe_unused]] inline void ebb_read(const ::ebb::ValueReader& json, Type& value){ \
        EBB_DETAIL_EACH(EBB_DETAIL_READ_MEMBER, value, __VA_ARGS__)                     \
    } EBB_DETAIL_WRITE_FIELDS(Type, __VA_ARGS__)

/// The same, but a member that is absent keeps what the default constructor gave it.
#define EBB_FIELDS_OR_DEFAULT(Type, ...)                                                \
    [[maybe_unused]] inline void ebb_read(const ::ebb::ValueReader& json, Type& value){ \
        EBB_DETAIL_EACH(EBB_DETAIL_READ_OR_KEEP, value, __VA_ARGS__)                    \
    } EBB_DETAIL_WRITE_FIELDS(Type, __VA_ARGS__)

/// Makes an enum a JSON string with the names of these enumerators; any other string is refused:
///
///     enum class Size { small, large };
///     EBB_ENUM(Size, small, large)
#define EBB_ENUM(Type, ...)                                                               \
    [[maybe_unused]] inline void ebb_read(const ::ebb::ValueReader& json, Type& value) {  \
        EBB_DETAIL_ENUMERATORS(Type, __VA_ARGS__)                                         \
        ::ebb::detail::read_enum(json, kValues, kNames, value);                           \
    }                                                                                     \
    [[maybe_unused]] inline void ebb_write(::ebb::ValueWriter& json, const Type& value) { \
        EBB_DETAIL_ENUMERATORS(Type, __VA_ARGS__)                                         \
        ::ebb::detail::write_enum(json, kValues, kNames, value);                          \
    }

/// The same with names of your own:
///
///     EBB_ENUM_NAMED(Size, (small, "S"), (large, "L"))
#define EBB_ENUM_NAMED(Type, ...)                                                         \
    [[maybe_unused]] inline void ebb_read(const ::ebb::ValueReader& json, Type& value) {  \
        EBB_DETAIL_NAMED_ENUMERATORS(Type, __VA_ARGS__)                                   \
        ::ebb::detail::read_enum(json, kValues, kNames, value);                           \
    }                                                                                     \
    [[maybe_unused]] inline void ebb_write(::ebb::ValueWriter& json, const Type& value) { \
        EBB_DETAIL_NAMED_ENUMERATORS(Type, __VA_ARGS__)                                   \
        ::ebb::detail::write_enum(json, kValues, kNames, value);                          \
    }

namespace ebb::detail {

template <typename T, std::size_t N>
void read_enum(
    const ValueReader& json, const T (&values)[N], const char* const (&names)[N], T& value
) {
    value = values[json.one_of(names, N)];
}

template <typename T, std::size_t N>
void write_enum(
    ValueWriter& json, const T (&values)[N], const char* const (&names)[N], const T& value
) {
    std::size_t i = 0;
    while (i < N && values[i] != value) ++i;
    json.enumerator(i < N ? names[i] : nullptr);
}

}  // namespace ebb::detail

#define EBB_DETAIL_READ_MEMBER(value, name) json.member(#name, value.name);
#define EBB_DETAIL_READ_OR_KEEP(value, name) json.member_or_keep(#name, value.name);
#define EBB_DETAIL_WRITE_MEMBER(value, name) json.member(#name, value.name);
#define EBB_DETAIL_ENUMERATOR(Type, name) Type::name,
#define EBB_DETAIL_NAME(Type, name) #name,

#define EBB_DETAIL_WRITE_FIELDS(Type, ...)                                                \
    [[maybe_unused]] inline void ebb_write(::ebb::ValueWriter& json, const Type& value) { \
        json.begin_object();                                                              \
        EBB_DETAIL_EACH(EBB_DETAIL_WRITE_MEMBER, value, __VA_ARGS__)                      \
    }

#define EBB_DETAIL_ENUMERATORS(Type, ...)                                                          \
    static constexpr Type kValues[] = {EBB_DETAIL_EACH(EBB_DETAIL_ENUMERATOR, Type, __VA_ARGS__)}; \
    static constexpr const char* kNames[] = {EBB_DETAIL_EACH(EBB_DETAIL_NAME, Type, __VA_ARGS__)};

#define EBB_DETAIL_NAMED_ENUMERATORS(Type, ...)                      \
    static constexpr Type kValues[] = {                              \
        EBB_DETAIL_EACH(EBB_DETAIL_ENUMERATOR_OF, Type, __VA_ARGS__) \
    };                                                               \
    static constexpr const char* kNames[] = {                        \
        EBB_DETAIL_EACH(EBB_DETAIL_NAME_OF, Type, __VA_ARGS__)       \
    };

#define EBB_DETAIL_ENUMERATOR_OF(Type, pair) Type::EBB_DETAIL_FIRST pair,
#define EBB_DETAIL_NAME_OF(Type, pair) EBB_DETAIL_SECOND pair,
#define EBB_DETAIL_FIRST(first, second) first
#define EBB_DETAIL_SECOND(first, second) second

// EACH(macro, what, a, b, c) is macro(what, a) macro(what, b) macro(what, c): the preprocessor does
// not expand a macro within itself, so STEP leaves the rest as AGAIN (), and each scan does one
// more.
#define EBB_DETAIL_PARENTHESES ()
#define EBB_DETAIL_SCAN(...) EBB_DETAIL_SCAN_3(EBB_DETAIL_SCAN_3(EBB_DETAIL_SCAN_3(__VA_ARGS__)))
#define EBB_DETAIL_SCAN_3(...) EBB_DETAIL_SCAN_2(EBB_DETAIL_SCAN_2(EBB_DETAIL_SCAN_2(__VA_ARGS__)))
#define EBB_DETAIL_SCAN_2(...) EBB_DETAIL_SCAN_1(EBB_DETAIL_SCAN_1(EBB_DETAIL_SCAN_1(__VA_ARGS__)))
#define EBB_DETAIL_SCAN_1(...) EBB_DETAIL_SCAN_0(EBB_DETAIL_SCAN_0(EBB_DETAIL_SCAN_0(__VA_ARGS__)))
#define EBB_DETAIL_SCAN_0(...) __VA_ARGS__
#define EBB_DETAIL_EACH(macro, what, ...) \
    __VA_OPT__(EBB_DETAIL_SCAN(EBB_DETAIL_STEP(macro, what, __VA_ARGS__)))
#define EBB_DETAIL_STEP(macro, what, first, ...) \
    macro(what, first) __VA_OPT__(EBB_DETAIL_AGAIN EBB_DETAIL_PARENTHESES(macro, what, __VA_ARGS__))
#define EBB_DETAIL_AGAIN() EBB_DETAIL_STEP
