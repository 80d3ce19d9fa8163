// PlantUML text, and what pictures can say of a node besides its definition.

#include "core/diagram/notes.h"

#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "unit/diagram/samples.h"

namespace ebb::diagram_test {
namespace {

using diagram::Note;
using diagram::Notes;

std::vector<std::string> plantuml(
    const Definition& definition, const DiagramOptions& options = {}
) {
    std::vector<std::string> lines;
    std::istringstream stream(diagram::to_plantuml(definition, options, {}));
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

TEST(PlantUml, every_edge_joins_nodes_that_are_declared_once) {
    for (const Sample& sample : samples()) {
        std::set<std::string> nodes;
        int depth = 0;
        for (const std::string& line : plantuml(sample.definition, sample.options)) {
            depth += line.ends_with(" {") ? 1 : line.ends_with("}") ? -1 : 0;
            const std::size_t as = line.find("\" as ");
            if (as != std::string::npos) {
                const std::size_t begin = as + 5;
                const std::string id = line.substr(begin, line.find(' ', begin) - begin);
                EXPECT_TRUE(nodes.insert(id).second) << line;
                continue;
            }
            const std::size_t arrow = line.find("->");
            if (arrow == std::string::npos || !line.starts_with("n")) continue;
            std::istringstream words(line);
            std::string from;
            std::string way;
            std::string to;
            words >> from >> way >> to;
            EXPECT_TRUE(nodes.contains(from) && nodes.contains(to)) << line;
        }
        EXPECT_EQ(depth, 0) << sample.name;
    }
}

TEST(PlantUml, what_it_could_read_as_its_own_is_escaped) {
    const std::string hostile = "\"<b>**!include /' $x %y [[z]] \\n\n@enduml";
    std::size_t ends = 0;
    for (const std::string& line : plantuml(workflow("w", {step(hostile)}))) {
        ends += line == "@enduml" ? 1 : 0;
        const std::size_t open = line.find('"');
        if (open == std::string::npos || line.find("as n1 ") == std::string::npos) continue;
        const std::string label = line.substr(open + 1, line.find("\" as ") - open - 1);
        EXPECT_EQ(label.find_first_of("\"*!/'$%[]\\@"), std::string::npos) << label;
        for (std::size_t at = label.find('<'); at != std::string::npos;
             at = label.find('<', at + 1)) {
            EXPECT_EQ(label.substr(at, 3), "<U+") << label;
        }
    }
    EXPECT_EQ(ends, 1U);
}

TEST(Notes, have_a_word_and_a_sign_in_every_format) {
    const Definition definition = workflow("w", {step("a"), step("b"), step("c")});
    Notes notes;
    notes.nodes["a"] = {Note::Kind::Added, ""};
    notes.nodes["b"] = {Note::Kind::Changed, "timeout"};
    notes.headline = "two versions";
    EXPECT_EQ(
        diagram::to_text(definition, {}, {}, notes),
        "w v1  two versions\n├─ + ■ a  [added]\n├─ ~ ■ b  [changed: timeout]\n└─ ■ c\n"
    );
    const std::string svg = diagram::to_svg(definition, {}, notes);
    EXPECT_NE(svg.find("<g class=\"added\">"), std::string::npos);
    EXPECT_NE(svg.find(">changed: timeout</text>"), std::string::npos);
    EXPECT_NE(diagram::to_mermaid(definition, {}, notes).find(":::changed"), std::string::npos);
    EXPECT_NE(
        diagram::to_plantuml(definition, {}, notes).find("changed: timeout"), std::string::npos
    );
    EXPECT_NE(diagram::to_dot(definition, {}, notes).find("changed: timeout"), std::string::npos);
}

TEST(Notes, without_notes_no_picture_changes) {
    for (const Sample& sample : samples()) {
        EXPECT_EQ(
            diagram::to_svg(sample.definition, sample.options, {}),
            to_svg(sample.definition, sample.options)
        );
    }
}

}  // namespace
}  // namespace ebb::diagram_test
