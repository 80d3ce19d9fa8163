#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/json.h>
#include <ebb/print.h>
#include <ebb/time.h>

// Rules as plain data: typed attributes, and the conditions over them that say what comes next.
// docs/reference/rules.md describes every field.

namespace ebb {

enum class AttributeType {
    Text,
    Boolean,
    Integer,  ///< 64 bits
    Double,
    Numeric,    ///< a decimal number; in JSON a string of its digits
    Timestamp,  ///< in microseconds, UTC; in JSON `2026-11-21T08:30:00.000000Z`
    Date,       ///< in JSON `2026-11-21`
    Uuid,
    Document,  ///< any JSON
};

/// As in a definition: `text`, ..., `uuid`, `json`.
std::string_view to_string(AttributeType type);

/// One typed value of an instance.
struct Attribute {
    std::string name{};
    AttributeType type = AttributeType::Text;
    Payload initial = "null";  ///< the default, as JSON text
    bool is_external = false;  ///< may be written from outside
    bool is_enabled = true;    ///< false: kept, but conditions cannot see it
    /// Its names in earlier versions: an instance that follows keeps the value.
    std::vector<std::string> renamed_from{};

    bool operator==(const Attribute&) const = default;
};

/// What a transition may write. For the analysis its values may be given too.
struct DeclaredWrite {
    std::string attribute{};
    std::vector<Payload> values{};  ///< as JSON texts; empty = any

    bool operator==(const DeclaredWrite&) const = default;
};

/// When a transition is fired, and how its output is used. The transition runs the node of the same
/// index in Definition::steps: a step, or a sequence of nodes.
struct Trigger {
    enum class Mode {
        Level,  ///< whenever its condition is true and it is not pending
        Edge,   ///< when its condition becomes true
        Once,   ///< once for each instance
    };

    std::string when{};  ///< an SQL condition over the attributes
    Payload set{};       ///< a template that makes attributes of the output; empty = the output
    std::optional<std::vector<DeclaredWrite>> writes{};  ///< absent = any attribute
    Mode mode = Mode::Level;
    /// How long its condition must be true without a break before it fires; 0 = it fires at once.
    Duration after{0};
    std::int64_t max_fires = 0;  ///< for each instance; 0 = no limit
    bool is_enabled = true;      ///< false: never fires; pending transitions continue

    bool operator==(const Trigger&) const = default;
};

struct NamedCondition {
    std::string name{};
    std::string when{};

    bool operator==(const NamedCondition&) const = default;
};

/// Bounds a rollback: what was written before its condition became true stays.
struct SavepointCondition {
    std::string name{};
    std::string when{};
    bool resumes = false;  ///< after a rollback to it, all conditions are checked again
    int max_resumes = 3;   ///< how many times; then the instance fails

    bool operator==(const SavepointCondition&) const = default;
};

/// What a workflow has instead of an order of steps: its transitions are fired by conditions over
/// the instance's attributes.
struct Rules {
    /// What happens to an instance in an exception.
    enum class OnException {
        DeadLetter,  ///< it waits for an operator
        Compensate,  ///< it is rolled back
        Handle,      ///< a handler changes its attributes: the last of Definition::steps
    };
    /// What happens to an instance if nothing is pending and no condition holds.
    enum class OnIdle {
        Exception,  ///< it is in the exception `no_condition`; a start that leads there is refused
        Wait,       ///< it waits for a write from outside
    };
    /// What a final condition does if it becomes true while transitions are pending.
    enum class FinalWhilePending {
        Wait,    ///< nothing more fires; the instance completes when they have ended
        Refuse,  ///< the write that made it true is refused
        Stop,    ///< they are stopped, and those that were called are compensated
    };
    enum class ExternalWrites {
        Declared,  ///< to the attributes that are `external`
        All,
        None,
    };

    /// What a newer version of the workflow means to the instances that have begun.
    enum class Evolution {
        Pin,     ///< each ends on the version that it began with
        Follow,  ///< each continues on the newest version from its next change on
    };

    std::vector<Attribute> attributes{};
    std::vector<Trigger> triggers{};
    std::vector<NamedCondition> finals{};
    std::vector<NamedCondition> exceptions{};
    std::vector<NamedCondition> invariants{};
    std::vector<SavepointCondition> savepoints{};
    OnException on_exception = OnException::DeadLetter;
    OnIdle on_idle = OnIdle::Exception;
    FinalWhilePending final_while_pending = FinalWhilePending::Wait;
    ExternalWrites external_writes = ExternalWrites::Declared;
    Evolution evolution = Evolution::Pin;

    bool operator==(const Rules&) const = default;
};

// The words of the JSON form: `level`, `dead_letter`, ...
std::string_view to_string(Trigger::Mode mode);
/// `handle` for a handler.
std::string_view to_string(Rules::OnException on_exception);
std::string_view to_string(Rules::OnIdle on_idle);
std::string_view to_string(Rules::FinalWhilePending final_while_pending);
std::string_view to_string(Rules::ExternalWrites external_writes);
std::string_view to_string(Rules::Evolution evolution);

/// The name of the step that handles exceptions (Rules::OnException::Handle).
inline constexpr std::string_view kExceptionStep = "_EXCPT";

/// The named limits of rules; each has a test at the limit and one above it.
struct RulesLimits {
    static constexpr std::size_t kAttributesMax = 256;
    static constexpr std::size_t kTriggersMax = 256;
    static constexpr std::size_t kFinalsMax = 16;
    static constexpr std::size_t kExceptionsMax = 16;
    static constexpr std::size_t kInvariantsMax = 64;
    static constexpr std::size_t kSavepointsMax = 16;
    static constexpr std::size_t kAttributeNameBytesMax = 63;
    static constexpr std::size_t kEarlierNamesMax = 16;  ///< of one attribute
    static constexpr std::size_t kStateBytesMax = std::size_t{64} << 10;
    static constexpr std::int64_t kFiresMax = 1'000'000'000;
    /// A transition that fires itself again this often without changing an attribute is an
    /// exception.
    static constexpr std::int32_t kIdleFiresMax = 100;
};

}  // namespace ebb
