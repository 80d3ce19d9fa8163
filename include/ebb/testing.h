#pragma once

#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <ebb/clock.h>
#include <ebb/engine.h>
#include <ebb/error.h>
#include <ebb/handler.h>
#include <ebb/store.h>

// Tests of your own workflows, with any test framework: a world in which time passes only when the
// test says so, and in which handlers do what the test scripts. See docs/how-to/test.md. Component
// ebb::testing.

namespace ebb::testing {

class World;

namespace detail {
struct WorldState;
struct ScriptState;
struct CrashPlay;
}  // namespace detail

/// A script for the calls of one handler, in place of the real handler. Each function adds one
/// call. After the last one, every call repeats the last one.
class Script {
 public:
    explicit Script(std::shared_ptr<detail::ScriptState> state) : state_(std::move(state)) {}

    /// The call succeeds. A string is a JSON string here; Payload::text(json) is JSON text.
    template <typename Value>
    Script& returns(const Value& value) {
        return returns_payload(Payload::of(value));
    }

    /// The call succeeds and passes its input on.
    Script& passes_on();
    /// The call fails; the step is retried according to its policy.
    Script& fails(std::string message = "scripted failure", std::string code = "error");
    /// The call fails for good.
    Script& fails_for_good(std::string message = "scripted failure", std::string code = "error");
    /// The process of the worker dies during the call, and another worker takes over immediately.
    /// What the call did is unknown, as after `kill -9`.
    Script& dies();
    /// The call runs this function.
    Script& calls(Handler handler);
    /// The call that was added last takes this long: the world's clock advances during it. Throws
    /// Error with InvalidArgument if the script has no call yet.
    Script& takes(Duration duration);
    /// The call that was added last is repeated this many times, at least once. Throws Error with
    /// InvalidArgument if the script has no call yet.
    Script& times(int count);

 private:
    Script& returns_payload(Payload payload);
    void need_call(std::string_view what) const;

    std::shared_ptr<detail::ScriptState> state_;
};

/// Thrown by the expectations of an Instance. Its message says what was expected, what was found,
/// and where in the test, and ends with the timeline of the instance. GoogleTest, Catch2 and others
/// print it as the message of an unexpected exception.
class ExpectationFailed : public std::logic_error {
 public:
    using std::logic_error::logic_error;
};

/// What the successful calls of a step's handler did outside of Ebb, assuming that the other side
/// ignores repeated calls with the same idempotency key, as it should.
struct Effect {
    InstanceId instance;
    std::string step;
    std::string idempotency_key;
    int calls = 0;           ///< that succeeded; more than one only after a crash
    bool is_undone = false;  ///< a compensation of this effect succeeded

    bool operator==(const Effect&) const = default;
};

/// One instance of a world: a handle, which the world must outlive.
class Instance {
 public:
    Instance(std::shared_ptr<detail::WorldState> world, InstanceId id)
        : world_(std::move(world)), id_(id) {}

    const InstanceId& id() const { return id_; }

    InstanceStatus status() const;
    InstanceView show() const;

    /// The output of a completed instance. Throws ExpectationFailed if it is not completed, or if
    /// the output is not of this type.
    template <typename Output>
    Output output(std::source_location where = std::source_location::current()) const {
        expect(InstanceStatus::Completed, where);
        const Payload found = show().output;
        try {
            return found.template as<Output>();
        } catch (const Error& error) {
            fail_output(error.what(), where);
        }
    }

    /// The calls of handlers so far, by the names of their steps, in order: `reserve charge!
    /// charge! ~reserve`. `!` = the call failed, `~` = it undid the step.
    std::string calls() const;
    /// The timeline for people: a line for each step, then what the instance waits for.
    std::string timeline() const;

    /// World::run_until_idle.
    const Instance& to_end() const;
    /// World::advance.
    const Instance& after(Duration duration) const;

    const Instance& signal(std::string_view name, const Payload& payload = {}) const;

    template <PayloadValue Value>
    const Instance& signal(std::string_view name, const Value& payload) const {
        return signal(name, ebb::detail::payload_of(payload));
    }

    const Instance& decide(const PersonalDecision& decision) const;
    const Instance& cancel(std::string_view by = {}, std::string_view reason = {}) const;

    // All of these throw ExpectationFailed if the expectation does not hold.
    const Instance& expect(
        InstanceStatus status, std::source_location where = std::source_location::current()
    ) const;
    /// The newest visit of the step.
    const Instance& expect_step(
        std::string_view step,
        StepStatus status,
        std::source_location where = std::source_location::current()
    ) const;
    /// As calls() returns them.
    const Instance& expect_calls(
        std::string_view calls, std::source_location where = std::source_location::current()
    ) const;
    /// These steps, and no others, were undone, in this order.
    const Instance& expect_compensated(
        const std::vector<std::string>& steps,
        std::source_location where = std::source_location::current()
    ) const;
    /// The instance waits at this node: for a person, a signal, a time, or the next attempt.
    const Instance& expect_waiting(
        std::string_view node, std::source_location where = std::source_location::current()
    ) const;

 private:
    Engine& engine() const;
    const Instance& poll() const;
    [[noreturn]] void fail_output(const char* why, const std::source_location& where) const;

    std::shared_ptr<detail::WorldState> world_;
    InstanceId id_;
};

/// The timeline.
std::ostream& operator<<(std::ostream& out, const Instance& run);

struct WorldOptions {
    /// The time at the beginning; always the same, so that a test never depends on today's date.
    TimePoint start = TimePoint(std::chrono::sys_days(std::chrono::year(2030) / 1 / 15));
    /// Opens the store, which must use this clock; empty = a memory store.
    std::function<StorePtr(const Clock& clock)> open_store{};
    /// A handler that is neither added nor scripted fails the start of its workflow. Otherwise it
    /// passes its input on.
    bool is_strict = false;
    LogSink* log = nullptr;
};

/// A clock, a store, handlers and an engine that only the test drives. Nothing happens, and no time
/// passes, unless the test says so. For one thread.
class World {
 public:
    explicit World(WorldOptions options = {});
    explicit World(const Definition& workflow, WorldOptions options = {});
    ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    /// The real handlers. Add them before the first instance is started.
    HandlerRegistry& handlers();
    /// From now on, calls of this handler follow the script that this function returns. An earlier
    /// script of the handler is dropped.
    Script on(std::string handler);
    /// Registers a workflow.
    void add(const Definition& workflow);

    /// Starts an instance and runs everything that is due. Does not accept a string, like
    /// Engine::start.
    Instance start(std::string_view workflow, const Payload& input = {}, const StartOptions& = {});

    template <PayloadValue Input>
    Instance start(
        std::string_view workflow, const Input& input, const StartOptions& options = {}
    ) {
        return start(workflow, ebb::detail::payload_of(input), options);
    }

    /// Runs everything that is due now; no time passes. Returns how many handlers were called.
    int poll();
    /// Runs everything that is due, and lets time pass until the next due time, until nothing more
    /// happens on its own: everything has ended, or waits for a person or a signal. Deadlines of
    /// such waits do not pass: use `advance` for that.
    void run_until_idle();
    /// Lets this much time pass, and runs everything that becomes due at its time. Throws Error
    /// with InvalidArgument if the duration is negative.
    void advance(Duration duration);
    TimePoint now() const;

    /// The effects of all handlers so far, in the order of their first success. It survives crashes
    /// of the engine's process, like a service that the handlers call.
    std::vector<Effect> effects() const;

    /// Ends the engine's process and starts another one on the same store.
    void restart();

    Engine& engine();
    Store& store();
    ManualClock& clock();

 private:
    friend struct detail::CrashPlay;

    std::shared_ptr<detail::WorldState> state_;
};

struct CrashOptions {
    /// Of every play. `open_store`, if given, must open an empty store each time.
    WorldOptions world{};
    int shown_max = 3;  ///< how many differences the message shows
    /// Also lets each call of a handler fail, and lose its answer. False: only processes die.
    bool fails_calls = true;
};

struct CrashReport {
    int points = 0;  ///< calls of the store at which the process can die
    int calls = 0;   ///< calls of handlers
    int plays = 0;
};

namespace detail {

CrashReport crash_everywhere(
    const std::function<Payload(World&)>& scenario,
    const CrashOptions& options,
    const std::source_location& where
);

}  // namespace detail

/// Plays `scenario` in a new world: first undisturbed, then again and again, once for each call of
/// the store that writes and each way to die there: before the call, after it, and after it with a
/// process that comes back under the same name. Then once for each call of a handler and each way
/// in which it can go wrong: it fails before it does anything, unless it is the last attempt that
/// the step has; and it does its work, but its answer is lost. All plays must end alike: the same
/// status, output and error code of each instance, the same effects left and undone, and the same
/// value, if `scenario` returns one, such as what a fake of the bank has in its books. Throws
/// ExpectationFailed with the differences if not.
///
/// The scenario adds its workflow and handlers to the world, starts instances and acts by the
/// functions of World and Instance. Handlers are called again after a crash, so expect_calls does
/// not fit. No time passes at a crash; the next attempt after a failure comes with run_until_idle,
/// to_end or advance.
template <typename Scenario>
CrashReport crash_everywhere(
    Scenario scenario,
    const CrashOptions& options = {},
    std::source_location where = std::source_location::current()
) {
    return detail::crash_everywhere(
        [&scenario](World& world) {
            if constexpr (std::is_void_v<decltype(scenario(world))>) {
                scenario(world);
                return Payload();
            } else {
                return Payload::of(scenario(world));
            }
        },
        options,
        where
    );
}

}  // namespace ebb::testing
