#pragma once

#include <string>
#include <vector>

#include <ebb/builder.h>
#include <ebb/rules.h>

namespace ebb {

struct AttributeOptions {
    Payload initial = "null";                 ///< of an instance that is started without a value
    bool is_external = false;                 ///< may be written from outside
    bool is_enabled = true;                   ///< false: kept, but conditions cannot name it
    std::vector<std::string> renamed_from{};  ///< its names in earlier versions
};

/// What a trigger may say besides its name and its condition.
struct TriggerOptions {
    /// The handler that the transition calls, how often, and how it is undone.
    StepOptions step{};
    /// The nodes that it runs instead of one handler; `step` must be empty then.
    BlockFunction steps{};
    /// A template as JSON text that makes attributes of the handler's output; empty = the output.
    Payload set{};
    /// What the transition may write; absent = any attribute, an empty list = none.
    std::optional<std::vector<DeclaredWrite>> writes{};
    Trigger::Mode mode = Trigger::Mode::Level;
    /// How long the condition must be true without a break; 0 = the transition fires at once.
    Duration after{0};
    std::int64_t max_fires = 0;  ///< for each instance; 0 = no limit
    bool is_enabled = true;
};

/// Builds a workflow with rules: which conditions over typed attributes fire which transitions.
/// docs/reference/rules.md says what each part means. Not thread-safe.
class RulesBuilder : private BlockBuilder {
 public:
    explicit RulesBuilder(std::string name, int version = 1);

    RulesBuilder& description(std::string text);
    RulesBuilder& on_error(Definition::OnError reaction);
    /// Of the whole instance.
    RulesBuilder& deadline(Duration duration);
    RulesBuilder& step_budget(std::int64_t visits);
    /// As WorkflowBuilder::sensitive.
    RulesBuilder& sensitive(std::vector<std::string> pointers);
    /// For the transitions that are added after it, as WorkflowBuilder::defaults.
    RulesBuilder& defaults(StepDefaults defaults);
    /// A template as JSON text; without one the output is an object of all attributes.
    RulesBuilder& output(Payload text);

    RulesBuilder& attribute(
        std::string name, AttributeType type = AttributeType::Text, AttributeOptions options = {}
    );
    /// `when` is an SQL condition over the attributes: docs/reference/conditions.md. Triggers are
    /// fired in the order in which they were added.
    RulesBuilder& trigger(std::string name, std::string when, TriggerOptions options = {});
    /// The instance completes when the condition holds and nothing is pending.
    RulesBuilder& final_condition(std::string name, std::string when);
    /// A state that is a problem.
    RulesBuilder& exception(std::string name, std::string when);
    /// A rollback undoes nothing that was written before the condition became true. With
    /// `resumes`, all conditions are then checked again, at most that often.
    RulesBuilder& savepoint(std::string name, std::string when, int resumes = 0);
    /// No write may make it false.
    RulesBuilder& invariant(std::string name, std::string when);

    /// Not with `Handle`, which needs the handler of the other function.
    RulesBuilder& on_exception(Rules::OnException reaction);
    /// Calls a handler that changes the attributes; docs/reference/rules.md says what it gets.
    RulesBuilder& on_exception(StepOptions handler);
    RulesBuilder& on_idle(Rules::OnIdle reaction);
    RulesBuilder& final_while_pending(Rules::FinalWhilePending reaction);
    RulesBuilder& external_writes(Rules::ExternalWrites allowed);
    RulesBuilder& evolution(Rules::Evolution evolution);

    /// The workflow as it is so far; may be called again. Throws DefinitionError with all its
    /// problems.
    using BlockBuilder::build;

 private:
    explicit RulesBuilder(const std::shared_ptr<detail::WorkflowDraft>& draft);

    Definition& definition();
    Rules& rules();
};

}  // namespace ebb
