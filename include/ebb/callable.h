#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <ebb/completion.h>
#include <ebb/context.h>
#include <ebb/json.h>

// How any callable becomes a handler of JSON texts. Details of <ebb/handler.h>.

namespace ebb::detail {

template <typename... Arguments>
struct Types {};

/// May a value of the type hold no function at all?
template <typename Function>
inline constexpr bool kCanBeEmpty = std::is_pointer_v<Function>;
template <typename Signature>
inline constexpr bool kCanBeEmpty<std::function<Signature>> = true;

/// The parameters and the result of a callable, if it has only one form.
template <typename Function>
struct Signature {
    static constexpr bool kIsKnown = false;
};

template <typename Output, typename Arguments>
struct Known {
    static constexpr bool kIsKnown = true;
    using Result = Output;
    using Parameters = Arguments;
};

template <typename R, bool N, typename... A>
struct Signature<R (*)(A...) noexcept(N)> : Known<R, Types<A...>> {};

template <typename R, typename C, bool N, typename... A>
struct Signature<R (C::*)(A...) noexcept(N)> : Known<R, Types<A...>> {};

template <typename R, typename C, bool N, typename... A>
struct Signature<R (C::*)(A...) const noexcept(N)> : Known<R, Types<A...>> {};

template <typename R, typename C, bool N, typename... A>
struct Signature<R (C::*)(A...) & noexcept(N)> : Known<R, Types<A...>> {};

template <typename R, typename C, bool N, typename... A>
struct Signature<R (C::*)(A...) const & noexcept(N)> : Known<R, Types<A...>> {};

template <typename Function>
    requires requires { &Function::operator(); }
struct Signature<Function> : Signature<decltype(&Function::operator())> {};

template <typename Function>
struct Signature<std::reference_wrapper<Function>> : Signature<std::decay_t<Function>> {};

template <typename T>
struct IsCompletion : std::false_type {};

template <typename T>
struct IsCompletion<Completion<T>> : std::true_type {};

template <typename T>
concept IsContext = std::same_as<std::remove_cvref_t<T>, StepContext>;
template <typename T>
concept IsTransaction = std::same_as<std::remove_cvref_t<T>, Transaction>;
template <typename T>
concept IsAsync = IsCompletion<std::remove_cvref_t<T>>::value;
template <typename T>
concept IsInput = !IsContext<T> && !IsTransaction<T> && !IsAsync<T>;

/// The handler has no input of its own.
struct NoInput {};

/// The input's type is that of the parameter.
struct Deduced {};

template <typename... A>
struct FirstInput {
    using Type = NoInput;
};

template <typename First, typename... Rest>
struct FirstInput<First, Rest...> : FirstInput<Rest...> {};

template <typename First, typename... Rest>
    requires IsInput<First>
struct FirstInput<First, Rest...> {
    using Type = std::remove_cvref_t<First>;
};

template <typename Parameters>
struct Shape;

template <typename... A>
struct Shape<Types<A...>> {
    static constexpr int kInputs = (0 + ... + static_cast<int>(IsInput<A>));
    static constexpr int kContexts = (0 + ... + static_cast<int>(IsContext<A>));
    static constexpr bool kHasTransaction = (false || ... || IsTransaction<A>);
    static constexpr bool kIsAsync = (false || ... || IsAsync<A>);
    static constexpr bool kHasMutable =
        (false || ... ||
         ((IsContext<A> || IsTransaction<A>) && std::is_lvalue_reference_v<A> &&
          !std::is_const_v<std::remove_reference_t<A>>));
    using Input = typename FirstInput<A...>::Type;
};

/// The parameters of a callable with several forms, whose input's type was given.
template <typename Function, typename In>
consteval auto parameters_of() {
    if constexpr (Signature<Function>::kIsKnown) {
        return typename Signature<Function>::Parameters{};
    } else if constexpr (std::same_as<In, Deduced>) {
        return Types<>{};
    } else if constexpr (std::is_invocable_v<Function&, In&, const StepContext&>) {
        return Types<In&, const StepContext&>{};
    } else if constexpr (std::is_invocable_v<Function&, const StepContext&, In&>) {
        return Types<const StepContext&, In&>{};
    } else if constexpr (std::is_invocable_v<Function&, In&>) {
        return Types<In&>{};
    } else {
        return Types<In>{};
    }
}

template <typename Function, typename In>
using ParametersOf = decltype(parameters_of<Function, In>());

template <typename Function, typename In>
using InputOf = std::
    conditional_t<std::same_as<In, Deduced>, typename Shape<ParametersOf<Function, In>>::Input, In>;

/// One parameter's argument.
template <typename Parameter, typename Input>
decltype(auto) argument(Input& input, const StepContext& context, const CompletionPtr& completion) {
    if constexpr (IsContext<Parameter>) {
        return context;
    } else if constexpr (IsTransaction<Parameter>) {
        return *context.transaction;
    } else if constexpr (IsAsync<Parameter>) {
        return std::remove_cvref_t<Parameter>(completion);
    } else if constexpr (std::is_lvalue_reference_v<Parameter>) {
        return input;
    } else {
        return std::move(input);
    }
}

template <typename Function, typename Input, typename... A>
    requires requires(
        Function& function,
        Input& input,
        const StepContext& context,
        const CompletionPtr& completion
    ) { function(argument<A>(input, context, completion)...); }
decltype(auto) call(
    Types<A...> /*parameters*/,
    Function& function,
    Input& input,
    const StepContext& context,
    const CompletionPtr& completion
) {
    return function(argument<A>(input, context, completion)...);
}

/// A result that comes later: std::future and what is like it.
template <typename T>
concept Later = requires(T& later) {
    later.wait();
    later.get();
};

template <typename T>
struct Awaited {
    using Type = T;
};

template <Later T>
struct Awaited<T> {
    using Type = decltype(std::declval<T&>().get());
};

template <typename Function, typename Input, typename Parameters>
using ResultOf = std::remove_cvref_t<decltype(call(
    Parameters{},
    std::declval<Function&>(),
    std::declval<Input&>(),
    std::declval<const StepContext&>(),
    std::declval<const CompletionPtr&>()
))>;

/// Throws the handler's failure `invalid_input`.
void read_input_text(
    const std::string& text, const StepContext& context, ReadInto read, void* value
);

template <typename Input>
std::conditional_t<std::same_as<Input, Payload>, const Payload&, Input> read_input(
    const Payload& text, const StepContext& context
) {
    if constexpr (std::same_as<Input, NoInput>) {
        return {};
    } else if constexpr (std::same_as<Input, Payload>) {
        return text;
    } else {
        Input input{};
        read_input_text(text, context, &read_into<Input>, &input);
        return input;
    }
}

template <typename T>
inline constexpr bool kIsReadable =
    std::same_as<T, NoInput> || NativelyRead<Core<T>> || Readable<Core<T>>;

template <typename T>
inline constexpr bool kIsWritable = std::is_void_v<T> || std::same_as<T, StepResult> ||
                                    NativelyWritten<Core<T>> || Text<T> || Writable<Core<T>>;

/// False: only nlohmann/json can convert the type, and the translation unit does not include it.
template <typename T>
inline constexpr bool kIsIncluded =
    std::same_as<T, NoInput> || (NativelyRead<Core<T>> && !JsonObject<Core<T>>) ||
    Complete<JsonOf<T>>;

template <typename T>
concept Borrowed = std::is_pointer_v<T> || std::same_as<T, std::string_view>;

/// What is wrong with a callable's parameters, in one sentence.
template <typename Function, typename In, bool kIsTransactional>
consteval bool has_good_parameters() {
    constexpr bool kHasForm = Signature<Function>::kIsKnown || !std::same_as<In, Deduced>;
    static_assert(
        !std::is_member_function_pointer_v<Function>,
        "A member function needs an object: handlers.add(name, &Type::function, &object)."
    );
    static_assert(
        kHasForm || std::is_member_function_pointer_v<Function>,
        "Ebb cannot see which input this callable takes (a generic lambda, std::bind_front, or "
        "several call operators): name the type, as in handlers.add<Order>(name, callable)."
    );
    if constexpr (kHasForm && !std::is_member_function_pointer_v<Function>) {
        using Form = Shape<ParametersOf<Function, In>>;
        using Input = InputOf<Function, In>;
        constexpr bool kIsSimple = Form::kInputs <= 1 && Form::kContexts <= 1;
        static_assert(
            kIsSimple,
            "A handler takes at most one input and the context: put several inputs into one struct."
        );
        static_assert(
            !Form::kHasMutable,
            "A handler takes the context as const ebb::StepContext& and the transaction as const "
            "ebb::Transaction&."
        );
        static_assert(
            !kIsSimple || !Borrowed<Input>,
            "A handler's input must own its data: take std::string in place of std::string_view, "
            "and a value in place of a pointer."
        );
        static_assert(
            Form::kHasTransaction == kIsTransactional || Form::kHasMutable,
            "A handler with an ebb::Transaction is added by add_transactional, all others by add."
        );
        static_assert(
            !(Form::kIsAsync && kIsTransactional),
            "A transactional handler cannot be asynchronous: its transaction ends with the call."
        );
        static_assert(
            kIsIncluded<Input>,
            "Ebb cannot read the handler's input from JSON: give its type EBB_FIELDS(Type, "
            "members...) or EBB_ENUM(Type, names...), or include <nlohmann/json.hpp> if "
            "nlohmann/json converts it."
        );
        constexpr bool kIsAsked = kIsSimple && !Form::kHasMutable && !Borrowed<Input> &&
                                  Form::kHasTransaction == kIsTransactional &&
                                  !(Form::kIsAsync && kIsTransactional) && kIsIncluded<Input>;
        if constexpr (kIsAsked) {
            static_assert(
                kIsReadable<Input>,
                "Ebb cannot read the handler's input from JSON: give its type EBB_FIELDS(Type, "
                "members...), EBB_ENUM(Type, names...), or a from_json function next to the type."
            );
            return kIsReadable<Input>;
        }
    }
    return false;
}

/// A callable as functions of texts, which get it as a pointer.
template <typename Function, typename In>
struct TypedHandler {
    using Input = InputOf<Function, In>;
    using Parameters = ParametersOf<Function, In>;

    static constexpr bool kIsCallable = requires(
        Function& function,
        Input& input,
        const StepContext& context,
        const CompletionPtr& completion
    ) { call(Parameters{}, function, input, context, completion); };

    static Payload run(void* function, const Payload& text, const StepContext& context) {
        using Result = ResultOf<Function, Input, Parameters>;
        using Output = std::remove_cvref_t<typename Awaited<Result>::Type>;
        auto&& input = read_input<Input>(text, context);
        if constexpr (std::is_void_v<Output>) {
            result_of(function, input, context);
            return text;
        } else if constexpr (std::is_same_v<Output, StepResult>) {
            StepResult result = result_of(function, input, context);
            if (context.choice != nullptr) *context.choice = std::move(result.choice);
            return std::move(result.output);
        } else {
            return Payload::of(static_cast<const Output&>(result_of(function, input, context)));
        }
    }

    static void begin(void* function, const Payload& text, const CompletionPtr& completion) {
        const StepContext& context = context_of(*completion);
        auto&& input = read_input<Input>(text, context);
        Function& typed = *static_cast<Function*>(function);
        call(Parameters{}, typed, input, context, completion);
    }

 private:
    template <typename Value>
    static decltype(auto) result_of(void* function, Value& input, const StepContext& context) {
        Function& typed = *static_cast<Function*>(function);
        if constexpr (Later<ResultOf<Function, Input, Parameters>>) {
            return call(Parameters{}, typed, input, context, nullptr).get();
        } else {
            return call(Parameters{}, typed, input, context, nullptr);
        }
    }
};

/// Keeps an object without its type. In the library, like the handlers that are made of it: the
/// templates of std::function and std::make_shared for each handler would be half of the time that
/// its translation unit takes.
std::shared_ptr<void> keep(void* object, void (*destroy)(void*));

/// The engine's handlers are copied; what they call need not be copyable.
template <typename Function>
std::shared_ptr<void> keep(Function function) {
    return keep(new Function(std::move(function)), [](void* kept) {
        delete static_cast<Function*>(kept);
    });
}

/// The same for its result.
template <typename Function, typename In>
consteval bool has_good_result() {
    using Typed = TypedHandler<Function, In>;
    static_assert(
        Typed::kIsCallable,
        "The callable cannot be called with the input type that was named for it."
    );
    if constexpr (Typed::kIsCallable) {
        using Result = ResultOf<Function, typename Typed::Input, typename Typed::Parameters>;
        using Output = std::remove_cvref_t<typename Awaited<Result>::Type>;
        constexpr bool kIsAsync = Shape<typename Typed::Parameters>::kIsAsync;
        static_assert(
            !kIsAsync || std::is_void_v<Result>,
            "An asynchronous handler returns nothing: give the result to its ebb::Completion."
        );
        static_assert(
            kIsWritable<Output>,
            "Ebb cannot write the handler's result as JSON: give its type EBB_FIELDS(Type, "
            "members...), EBB_ENUM(Type, names...), or a to_json function next to the type (and "
            "include <nlohmann/json.hpp>)."
        );
        return (!kIsAsync || std::is_void_v<Result>) && kIsWritable<Output>;
    } else {
        return false;
    }
}

/// A member function and what it is called on: a reference, a pointer, a smart pointer or a value.
template <typename Method, typename Object, typename Parameters>
struct Bound;

template <typename Method, typename Object, typename... A>
struct Bound<Method, Object, Types<A...>> {
    Method method;
    Object object;

    decltype(auto) operator()(A... arguments) {
        return std::invoke(method, object, std::forward<A>(arguments)...);
    }
};

}  // namespace ebb::detail
