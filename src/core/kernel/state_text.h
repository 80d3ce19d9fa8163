#pragma once

#include "core/kernel/program.h"
#include "core/kernel/state.h"
#include "support/json_reader.h"
#include "support/json_writer.h"

// encode_state and decode_state as parts of a larger text.

namespace ebb {

/// Finds nodes by their names. Texts name them mostly in the order in which they stand, so the one
/// behind the last one is looked at first.
class NodeFinder {
 public:
    explicit NodeFinder(const Program& program) : program_(program) {}

    /// kNoNode when there is none of this name.
    NodeIndex find(std::string_view name) {
        const auto& nodes = program_.nodes();
        NodeIndex node = next_;
        const bool is_next =
            static_cast<std::size_t>(node) < nodes.size() && program_.node(node).name == name;
        if (!is_next) node = program_.find(name);
        if (node != kNoNode) next_ = node + 1;
        return node;
    }

    const Program& program() const { return program_; }

 private:
    const Program& program_;
    NodeIndex next_ = 0;
};

/// Appends what encode_state returns, but without the run: a snapshot shows it elsewhere.
void write_state(JsonWriter& out, const InstanceState& state, const Program& program);

/// Appends the member `rules`.
void write_rules(JsonWriter& out, const rules::State& state, const rules::Program& program);

/// What write_rules wrote, from behind the colon. Throws as decode_state does.
rules::State read_rules(JsonReader& json, const rules::Program& program);

/// What the kernel relies on of the attributes: empty where that is so, else what is wrong.
std::string fault_of(const rules::State& state, const rules::Program& program);

/// What the kernel relies on without asking: every reference inside the state leads somewhere, and
/// what is there is what can be there. Empty where that is so, else what is wrong.
std::string fault_of(const InstanceState& state, const Program& program);

/// Makes of `state`, a new one, the state that the next value is. Throws Error as decode_state
/// does, and JsonSyntaxError.
void read_state(JsonReader& json, NodeFinder& nodes, InstanceState& state);

}  // namespace ebb
