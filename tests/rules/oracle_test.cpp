// The rules, as a pure function and in the kernel, end random writes as the oracle does.

#include "oracle.h"

#include <cstdlib>

#include "support/kernel_world.h"
#include "support/os_environment.h"

namespace ebb::test {
namespace {

/// The same with Ebb's rules.
struct Subject {
    Subject(const rules::Program& program_in, const Flow&)
        : program(program_in), state(program_in.initial_state()) {}

    Payload attributes() const { return program.state_text(state); }

    const rules::Program& program;
    rules::State state;
    std::set<int> jobs;
    std::map<int, std::pair<Payload, std::int64_t>> fired_on;
    std::int64_t seq = 0;
    char status = '-';
    std::string code{};

    std::optional<std::set<int>> write(rules::Write write) {
        write.seq = ++seq;
        write.pending.assign(program.triggers().size() + 1, false);
        for (const int job : jobs) {
            // An operator repairs the state while the handler of the exception is pending, which
            // is the last: it must make no difference.
            if (job == kException) {
                write.pending.back() = true;
            } else if (job != write.trigger) {
                write.pending[static_cast<std::size_t>(job)] = true;
            }
        }
        if (write.trigger >= 0) {
            write.given = fired_on[write.trigger].first;
            write.fired = fired_on[write.trigger].second;
        }
        const rules::Outcome outcome = rules::write(program, state, write);
        code = outcome.code;
        if (outcome.verdict == rules::Outcome::Verdict::Refused) return std::nullopt;
        state = outcome.state;
        if (write.source != rules::Write::Source::Start) {
            jobs.erase(write.source == rules::Write::Source::Repair ? kException : write.trigger);
        }
        const Payload now = program.state_text(state);
        for (const int trigger : outcome.fired) {
            jobs.insert(trigger);
            fired_on[trigger] = {now, seq};
        }
        status = 'R';
        if (outcome.verdict == rules::Outcome::Verdict::Completed) status = 'F';
        if (outcome.verdict == rules::Outcome::Verdict::Exception) {
            status = 'E';
            jobs.insert(kException);
        }
        return std::set<int>(outcome.fired.begin(), outcome.fired.end());
    }
};

/// The same with the kernel: jobs are tokens, and the job of an exception is an operator's write.
struct KernelSubject {
    KernelSubject(const rules::Program&, const Flow& flow) {
        definition.name = "w";
        definition.rules = flow.rules;
        for (const std::string& name : flow.names) {
            definition.steps.push_back({.name = name, .description = {}, .kind = Step{}});
        }
    }

    Definition definition;
    std::optional<KernelWorld> world;
    std::set<int> jobs;
    char status = '-';
    std::string code{};

    Payload attributes() const { return world->program->rules()->state_text(*world->state.rules); }

    std::optional<std::set<int>> write(const rules::Write& write) {
        const std::size_t known = world ? world->history.size() : 0;
        act(write);
        code = world->last_refusal().code;
        if (world->history.size() == known) return std::nullopt;
        // A final condition that has to wait for others is an attempt that is made again.
        if (world->history.back().type == HistoryType::StepRetried) return std::nullopt;
        jobs.clear();
        for (const Token& token : world->state.tokens) jobs.insert(token.branch);
        status = 'R';
        if (world->state.status == InstanceStatus::Completed) status = 'F';
        if (world->state.status == InstanceStatus::DeadLetter) {
            status = 'E';
            jobs.insert(kException);
        }
        return fired_since(known);
    }

 private:
    void act(const rules::Write& write) {
        if (!world) {
            world.emplace(definition, write.values);
            return;
        }
        if (write.trigger < 0) {
            world->apply(event::AttributesWritten{.values = write.values, .is_repair = true});
            return;
        }
        for (const Token& token : world->state.tokens) {
            if (token.branch != write.trigger) continue;
            world->apply(event::StepCompleted{
                .attempt = {.token = token.id, .visit = token.visit, .attempt = token.attempt},
                .output = write.values
            });
            return;
        }
    }

    /// Those whose visit has begun with the newest attributes.
    std::set<int> fired_since(std::size_t known) const {
        std::set<int> fired;
        for (const Token& token : world->state.tokens) {
            if (token.fired > static_cast<Seq>(known)) fired.insert(token.branch);
        }
        return fired;
    }
};

int steps_of(int otherwise) {
    const auto wanted = environment_variable("EBB_TEST_ORACLE_STEPS");
    return wanted ? std::stoi(*wanted) : otherwise;
}

TEST(RulesOracle, the_draft_s_algorithm_and_ebb_s_rules_agree) {
    compare_with_oracle<Subject>(steps_of(1'000'000));
}

TEST(RulesOracle, the_draft_s_algorithm_and_the_kernel_agree) {
    compare_with_oracle<KernelSubject>(steps_of(1'000'000));
}

}  // namespace
}  // namespace ebb::test
