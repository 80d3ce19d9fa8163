#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ebb/definition.h>

#include "core/rules/program.h"
#include "core/rules_analysis/condition.h"
#include "core/rules_analysis/regions.h"

namespace ebb::rules_analysis {

/// The regions of all attributes, by their index.
using Values = std::vector<std::uint8_t>;

/// What one kind of event may write. By attribute: the regions that it may be changed to; `any` =
/// all of them, whatever it was.
struct Effect {
    std::vector<bool> any{};
    std::vector<std::vector<int>> listed{};

    bool writes(std::size_t attribute) const {
        return any[attribute] || !listed[attribute].empty();
    }
};

/// The conditions of a list, and on which regions they hold.
struct Judged {
    std::string name{};
    Condition when;
};

/// The rules of a valid definition, made ready for an analysis.
class Subject {
 public:
    /// More regions of one attribute than this are too many.
    static constexpr std::size_t kRegionsMax = 250;

    explicit Subject(const Definition& definition);

    const Definition& definition() const { return definition_; }

    const rules::Program& program() const { return *program_; }

    const Rules& rules() const { return program_->rules(); }

    std::size_t attribute_count() const { return domains_.size(); }

    std::size_t trigger_count() const { return triggers_.size(); }

    const std::vector<Domain>& domains() const { return domains_; }

    const std::vector<Judged>& triggers() const { return triggers_; }

    const std::vector<Judged>& finals() const { return finals_; }

    const std::vector<Judged>& exceptions() const { return exceptions_; }

    const std::vector<Judged>& invariants() const { return invariants_; }

    const std::vector<Judged>& savepoints() const { return savepoints_; }

    /// What a transition may write.
    const Effect& effect(std::size_t trigger) const { return effects_[trigger]; }

    /// What an application may write; nothing if `writes` is false for all.
    const Effect& outside() const { return outside_; }

    /// What the handler of exceptions may write: any attribute.
    const Effect& handler() const { return handler_; }

    /// An attribute that the input of an instance cannot set, by its schema.
    bool is_fixed_at_start(std::size_t attribute) const { return fixed_[attribute]; }

    /// Every attribute at its default.
    const Values& defaults() const { return defaults_; }

    predicate::Row row_of(const Values& values) const;

    /// The regions of a row.
    Values values_of(const predicate::Row& row) const;

    /// `order_status = 'paid', price (more than 1000)`: those that differ from `base`.
    std::string text_of(const Values& values, const Values& base) const;

    /// False if an attribute has more than kRegionsMax regions.
    bool is_small() const { return is_small_; }

 private:
    Definition definition_;
    std::unique_ptr<rules::Program> program_;
    std::vector<Cuts> cuts_;
    std::vector<Domain> domains_;
    std::vector<Judged> triggers_;
    std::vector<Judged> finals_;
    std::vector<Judged> exceptions_;
    std::vector<Judged> invariants_;
    std::vector<Judged> savepoints_;
    std::vector<Effect> effects_;
    Effect outside_;
    Effect handler_;
    std::vector<bool> fixed_;
    Values defaults_;
    bool is_small_ = true;

    void judge_all();
    void make_effects();
    Effect effect_of(const Trigger& trigger) const;
    void read_schema();
};

/// Of the transitions, in the order of the triggers.
std::vector<std::string> transition_names(const Definition& definition);

}  // namespace ebb::rules_analysis
