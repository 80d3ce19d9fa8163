#pragma once

#include <string>
#include <vector>

#include <ebb/definition.h>
#include <ebb/diagram.h>

// Workflows to draw, as plain structs.

namespace ebb::diagram_test {

/// A definition and how it is drawn; its name is that of its golden files.
struct Sample {
    std::string name;
    Definition definition;
    DiagramOptions options;
};

std::vector<Sample> samples();

Node step(std::string name, std::string handler = "", std::string undo = "");
Node condition(std::string name, std::string when, Block then, Block otherwise = {});
Node parallel(std::string name, std::vector<Parallel::Branch> branches, int join = 0);
Node while_loop(std::string name, std::string expression, Block body);
Node until_loop(std::string name, std::string expression, Block body);
Definition workflow(std::string name, Block steps);

/// Conditions within each other, `depth` of them.
Definition nested(int depth);

/// `nodes` steps, with a parallel block and a condition after every tenth.
Definition large(int nodes);

}  // namespace ebb::diagram_test
