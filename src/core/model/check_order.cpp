#include <fmt/format.h>

#include "core/model/check_expressions.h"

namespace ebb::model {

namespace {

bool is_inside(const Walk& walk, int inner, int outer) {
    while (inner >= 0 && inner != outer) inner = walk.at(inner).parent;
    return inner == outer;
}

/// The two nodes of one parent that hold (or are) the given ones.
struct Siblings {
    int reader;
    int read;
};

Siblings siblings(const Walk& walk, int reader, int read) {
    while (walk.at(reader).depth > walk.at(read).depth) reader = walk.at(reader).parent;
    while (walk.at(read).depth > walk.at(reader).depth) read = walk.at(read).parent;
    while (walk.at(reader).parent != walk.at(read).parent) {
        reader = walk.at(reader).parent;
        read = walk.at(read).parent;
    }
    return {reader, read};
}

}  // namespace

std::string never_before(const Walk& walk, int reader, int read) {
    const std::string& name = walk.at(read).node->name;
    // In a later turn of a loop everything inside it can have completed.
    if (reader == read) {
        if (walk.may_repeat(read)) return {};
        return "a node cannot read its own output; read `input`, or an earlier step.";
    }
    if (is_inside(walk, reader, read)) {
        // A decision is made before the nodes of its `on_reject` run.
        const bool is_decision = walk.is_a<HumanDecision>(read);
        if (is_decision || walk.may_repeat(read)) return {};
        return fmt::format("\"{}\" completes only after all nodes inside it.", name);
    }
    if (is_inside(walk, read, reader)) {
        if (walk.is_a<Loop>(reader) || walk.may_repeat(reader)) return {};
        return fmt::format(
            "\"{}\" is inside \"{}\", which decides before it.", name, walk.at(reader).node->name
        );
    }
    const Siblings pair = siblings(walk, reader, read);
    const Placed& a = walk.at(pair.reader);
    const Placed& b = walk.at(pair.read);
    if (walk.may_repeat(pair.reader)) return {};
    if (a.parent >= 0 && walk.is_a<NodeGraph>(a.parent)) {
        if (walk.leads_to(pair.read, pair.reader)) return {};
        return fmt::format("no edges lead from \"{}\" to \"{}\".", b.node->name, a.node->name);
    }
    if (a.block == b.block) {
        if (a.index > b.index) return {};
        return fmt::format("\"{}\" comes later; read an earlier step or move it.", name);
    }
    if (walk.is_a<Parallel>(a.parent)) return {};
    return fmt::format(
        "\"{}\" is on another side of \"{}\", and only one of them is taken.",
        name,
        walk.at(a.parent).node->name
    );
}

}  // namespace ebb::model
