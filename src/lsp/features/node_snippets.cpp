#include "lsp/features/node_snippets.h"

#include <array>

namespace ebb::lsp {

namespace {

constexpr std::array<NodeSnippet, 11> kSnippets = {{
    {"step",
     "A step that calls a handler",
     "step: ${1:charge}\nhandler: ${2:charge}\ntimeout: ${3:30s}$0",
     "{step: ${1:charge}, timeout: ${2:30s}}$0"},
    {"condition",
     "Steps for yes, and steps for no",
     "condition: ${1:is_large}\nwhen: ${2:workflow.input.amount > 1000}\nthen:\n  - "
     "${3:review}\nelse:\n  - ${4:accept}$0",
     "{condition: ${1:is_large}, when: workflow.input.${2:large}, then: [${3:review}]}$0"},
    {"switch",
     "The first case whose condition is true",
     "switch: ${1:by_kind}\ncases:\n  - when: ${2:workflow.input.kind == \"express\"}\n    do:\n  "
     "    - ${3:ship_express}\ndefault:\n  - ${4:ship}$0",
     "{switch: ${1:by_kind}, cases: [{when: workflow.input.${2:express}, do: "
     "[${3:ship_express}]}]}$0"},
    {"parallel",
     "Branches at the same time",
     "parallel: ${1:both}\nbranches:\n  ${2:left}:\n    - ${3:notify}\n  ${4:right}:\n    - "
     "${5:record}$0",
     "{parallel: ${1:both}, branches: {${2:left}: [${3:notify}], ${4:right}: [${5:record}]}}$0"},
    {"loop",
     "Steps again, until a condition is true",
     "loop: ${1:until_done}\nuntil: ${2:steps.poll.output.done}\nmax_iterations: ${3:10}\ndo:\n  - "
     "${4:poll}$0",
     "{loop: ${1:until_done}, until: ${2:steps.poll.output.done}, do: [${3:poll}]}$0"},
    {"delay",
     "Waits for a time",
     "delay: ${1:cool_down}\nfor: ${2:10m}$0",
     "{delay: ${1:cool_down}, for: ${2:10m}}$0"},
    {"decision",
     "Waits for people to confirm or to reject",
     "decision: ${1:approval}\nroles: [${2:boss}]\ndeadline: ${3:3d}\non_deadline: "
     "${4|reject,confirm,fail|}$0",
     "{decision: ${1:approval}, deadline: ${2:3d}}$0"},
    {"signal",
     "Waits for a message from outside",
     "signal: ${1:paid}\ndeadline: ${2:1d}$0",
     "{signal: ${1:paid}, deadline: ${2:1d}}$0"},
    {"savepoint",
     "A rollback goes back to here",
     "savepoint: ${1:booked}\non_rollback: ${2|resume,fail|}$0",
     "{savepoint: ${1:booked}}$0"},
    {"fail",
     "Fails the instance, so that it rolls back",
     "fail: ${1:refused}\nmessage: ${2:It was refused}$0",
     "{fail: ${1:refused}}$0"},
    {"graph",
     "Nodes that are joined by edges",
     "graph: ${1:review}\nnodes:\n  - ${2:draft}\n  - ${3:check}\nedges:\n  - {from: ${2:draft}, "
     "to: ${3:check}}$0",
     "{graph: ${1:review}, nodes: [${2:draft}, ${3:check}], edges: [{from: ${2:draft}, to: "
     "${3:check}}]}$0"},
}};

}  // namespace

std::span<const NodeSnippet> node_snippets() {
    return kSnippets;
}

std::string_view workflow_snippet() {
    return "workflow: ${1:order}\nversion: 1\ndeadline: ${2:1h}\nsteps:\n  - step: ${3:reserve}\n  "
           "  timeout: ${4:30s}$0\n";
}

std::string indented(std::string_view lines, std::size_t columns) {
    std::string text;
    for (const char c : lines) {
        text += c;
        if (c == '\n') text.append(columns, ' ');
    }
    return text;
}

}  // namespace ebb::lsp
