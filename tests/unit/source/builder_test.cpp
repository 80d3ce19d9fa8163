// Workflows that C++ code builds, read without a compiler.

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include <ebb/diagram.h>

#include "core/diagram/notes.h"
#include "ebb_test_dirs.h"
#include "samples.h"
#include "source/cpp_calls.h"
#include "source/cpp_code.h"
#include "source/cpp_workflow.h"

namespace ebb::test {
namespace {

using namespace source;
namespace fs = std::filesystem;

std::string read(const fs::path& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

CppWorkflow only(std::string_view text) {
    std::vector<CppWorkflow> all = scan_workflows(text);
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? CppWorkflow{} : std::move(all.front());
}

/// The body of a function with a builder `b`.
CppWorkflow built(const std::string& statements) {
    return only("void f() {\nWorkflowBuilder b(\"w\");\n" + statements + "\nb.build();\n}\n");
}

std::vector<std::string> names(const Block& block) {
    std::vector<std::string> all;
    for (const Node& node : block) all.push_back(node.name);
    return all;
}

using Names = std::vector<std::string>;

std::string picture(const CppWorkflow& workflow) {
    return diagram::to_text(workflow.definition, {}, {}, notes_of(workflow));
}

TEST(CppBuilder, finds_what_the_compiler_builds) {
    const std::string text = read(fs::path(EBB_SOURCE_DIR) / "tests/unit/source/samples.cpp");
    std::map<std::string, CppWorkflow> found;
    for (CppWorkflow& workflow : scan_workflows(text)) {
        const std::string name = workflow.definition.name;
        EXPECT_TRUE(found.emplace(name, std::move(workflow)).second) << name;
    }
    for (const CppSample& sample : cpp_samples()) {
        ASSERT_TRUE(found.contains(sample.name)) << sample.name;
        const CppWorkflow& workflow = found[sample.name];
        EXPECT_TRUE(workflow.is_exact()) << sample.name << "\n" << picture(workflow);
        EXPECT_EQ(workflow.definition, sample.definition)
            << definition_to_json(workflow.definition) << "\n"
            << definition_to_json(sample.definition);
    }
    EXPECT_EQ(found.size(), cpp_samples().size());
}

/// All files of the repository that build workflows.
std::vector<fs::path> files_with_builders() {
    std::vector<fs::path> files;
    for (const char* folder : {"tests", "bench", "examples"}) {
        for (const auto& entry :
             fs::recursive_directory_iterator(fs::path(EBB_SOURCE_DIR) / folder)) {
            const fs::path& path = entry.path();
            if (!entry.is_regular_file() || !is_cpp_name(path.string())) continue;
            // The broken code of this test does not count as a use of a builder.
            if (path.parent_path().filename() == "source") continue;
            if (may_have_workflows(read(path))) files.push_back(path);
        }
    }
    return files;
}

TEST(CppBuilder, draws_at_least_85_percent_of_the_uses_in_this_repository_exactly) {
    std::size_t total = 0;
    std::size_t exact = 0;
    std::string dynamic;
    for (const fs::path& path : files_with_builders()) {
        for (const CppWorkflow& workflow : scan_workflows(read(path))) {
            ++total;
            exact += workflow.is_exact() ? 1 : 0;
            if (!workflow.is_exact()) dynamic += path.string() + "\n" + picture(workflow);
        }
    }
    std::cout << "uses of builders in this repository: " << total << ", drawn exactly: " << exact
              << " (" << (total == 0 ? 0 : exact * 100 / total) << " %)\n";
    EXPECT_GE(total, 80U);
    EXPECT_GE(exact * 100, total * 85) << exact << " of " << total << "\n" << dynamic;
}

TEST(CppBuilder, knows_every_function_of_the_builders) {
    const std::string header = read(fs::path(EBB_SOURCE_DIR) / "include/ebb/builder.h");
    std::istringstream lines(header);
    std::size_t count = 0;
    for (std::string line; std::getline(lines, line);) {
        const std::size_t reference = line.find("Builder");
        const std::size_t open = line.find('(');
        const bool is_declaration = line.starts_with("    ") && !line.starts_with("     ") &&
                                    reference != std::string::npos && open != std::string::npos &&
                                    reference < open && line.find("///") == std::string::npos;
        if (!is_declaration) continue;
        const std::size_t name = line.rfind(' ', open) + 1;
        const std::string function = line.substr(name, open - name);
        const bool is_constructor = function.find("Builder") != std::string::npos ||
                                    line.find("operator") != std::string::npos ||
                                    line.find("explicit") != std::string::npos ||
                                    line.find("using") != std::string::npos;
        if (is_constructor) continue;
        EXPECT_TRUE(CppCalls::knows(function)) << function;
        ++count;
    }
    EXPECT_GE(count, 40U) << "the header looks different now";
}

TEST(CppBuilder, an_unknown_name_is_the_source_text) {
    const CppWorkflow workflow = built("b.step(\"one\" + suffix).step(\"two\");");
    EXPECT_FALSE(workflow.is_exact());
    EXPECT_EQ(names(workflow.definition.steps), (Names{"‹\"one\" + suffix›", "two"}));
    ASSERT_EQ(workflow.unknown.size(), 1U);
    EXPECT_EQ(workflow.unknown[0].path, "/steps/0/step");
}

TEST(CppBuilder, loops_and_conditions_are_drawn_as_what_they_are) {
    const CppWorkflow workflow = built(
        "for (int i = 0; i < n; ++i) { b.step(\"turn\"); }\n"
        "if (is_big) b.step(\"big\"); else { b.step(\"small\"); }\n"
    );
    EXPECT_FALSE(workflow.is_exact());
    EXPECT_EQ(
        picture(workflow),
        "w v1  3 parts are decided when the program runs\n"
        "├─ ┆ ■ turn  [for (int i = 0; i < n; ++i)]\n"
        "├─ ┆ ■ big  [if (is_big)]\n"
        "└─ ┆ ■ small  [else of if (is_big)]\n"
    );
}

TEST(CppBuilder, a_function_of_another_file_can_add_anything) {
    const CppWorkflow workflow = built("b.step(\"a\"); add_more(b); b.step(\"c\");");
    EXPECT_FALSE(workflow.is_exact());
    EXPECT_EQ(names(workflow.definition.steps), (Names{"a", "‹add_more(b)›", "c"}));
}

TEST(CppBuilder, a_parameter_is_not_the_constant_of_the_same_name) {
    const CppWorkflow workflow = only(
        "constexpr int kTimes = 3;\n"
        "constexpr int times = 5;\n"
        "Definition f(int times) { return WorkflowBuilder(\"w\").step(\"a\").max_attempts(times)"
        ".step(\"b\").max_attempts(kTimes).build(); }\n"
    );
    EXPECT_FALSE(workflow.is_exact());
    EXPECT_EQ(std::get<Step>(workflow.definition.steps.at(1).kind).attempts.max_attempts, 3);
    ASSERT_EQ(workflow.unknown.size(), 1U);
    EXPECT_EQ(workflow.unknown[0].text, "times");
}

TEST(CppBuilder, what_can_change_is_not_a_constant) {
    EXPECT_FALSE(
        only("int n = 1;\nauto d = WorkflowBuilder(\"w\", n).step(\"a\").build();").is_exact()
    );
    EXPECT_FALSE(
        only("const char* s = \"x\";\nauto d = WorkflowBuilder(\"w\").step(s).build();").is_exact()
    );
    EXPECT_FALSE(built("b.step(flag ? \"a\" : \"b\");").is_exact());
    EXPECT_FALSE(built("b.step(std::string(\"a\").append(\"b\"));").is_exact());
}

TEST(CppBuilder, a_builder_that_is_handed_on_is_not_exact) {
    const CppWorkflow workflow = only("auto f() { return WorkflowBuilder(\"w\").step(\"a\"); }");
    EXPECT_FALSE(workflow.is_exact());
}

TEST(CppBuilder, declarations_are_not_workflows) {
    EXPECT_TRUE(
        scan_workflows("class WorkflowBuilder {\n explicit WorkflowBuilder(std::string n);\n};\n"
                       "WorkflowBuilder::WorkflowBuilder(std::string n) {}\n"
                       "WorkflowBuilder make();\nWorkflowBuilder make(const char* name);\n"
                       "void take(WorkflowBuilder& builder);\n// WorkflowBuilder(\"no\")\n"
                       "auto s = \"WorkflowBuilder(1)\";\n")
            .empty()
    );
}

TEST(CppBuilder, problems_have_the_place_in_the_code) {
    const std::string text =
        "auto d = WorkflowBuilder(\"w\")\n"
        "    .step(\"a\").max_attempts(0)\n"
        "    .condition(\"ü\", \"input. >\", [](BlockBuilder& b) { b.step(\"a\"); })\n"
        "    .build();\n";
    const std::vector<Diagnostic> problems = check_cpp(only(text), text, "order.cpp");
    ASSERT_FALSE(problems.empty());
    const auto at = [&](const std::string& code) {
        const auto found = std::find_if(problems.begin(), problems.end(), [&](const auto& problem) {
            return problem.code == code;
        });
        return found == problems.end() ? std::pair(0, 0) : std::pair(found->line, found->column);
    };
    EXPECT_EQ(at("out_of_range"), std::pair(2, 29));
    EXPECT_EQ(at("invalid_expression"), std::pair(3, 21));
    EXPECT_EQ(at("duplicate_name").first, 3);
}

TEST(CppBuilder, an_unknown_part_silences_what_it_can_change) {
    const std::string text =
        "auto d = WorkflowBuilder(\"w\").step(name).max_attempts(0)\n"
        "    .condition(\"c\", \"steps.first.output > 1\", [](BlockBuilder& b) { b.step(\"x\"); "
        "})\n"
        "    .build();\n";
    const std::vector<Diagnostic> problems = check_cpp(only(text), text, "order.cpp");
    ASSERT_EQ(problems.size(), 1U);
    EXPECT_EQ(problems[0].code, "out_of_range");
}

TEST(CppBuilder, an_unknown_duration_hides_no_problem_of_the_nodes) {
    const std::string text =
        "auto d = WorkflowBuilder(\"w\").deadline(hours())\n"
        "    .step(\"a\").timeout(slow())\n"
        "    .step(\"a\")\n"
        "    .condition(\"c\", \"steps.none.output > 1\", [](BlockBuilder& b) { b.step(\"x\"); "
        "})\n"
        "    .build();\n";
    const CppWorkflow workflow = only(text);
    ASSERT_EQ(workflow.unknown.size(), 2U);
    std::map<std::string, int> lines;
    for (const Diagnostic& problem : check_cpp(workflow, text, "order.cpp")) {
        lines[problem.code] = problem.line;
    }
    EXPECT_EQ(lines, (std::map<std::string, int>{{"duplicate_name", 3}, {"unknown_step", 4}}));
    EXPECT_EQ(withheld_problems(workflow, text), (CppWithheld{.count = 0, .line = 1}));
}

TEST(CppBuilder, problems_that_are_withheld_are_counted) {
    const std::string text =
        "auto d = WorkflowBuilder(\"w\")\n"
        "    .step(name).step(\"a\").step(\"a\")\n"
        "    .build();\n";
    const CppWorkflow workflow = only(text);
    EXPECT_TRUE(check_cpp(workflow, text, "order.cpp").empty());
    EXPECT_EQ(withheld_problems(workflow, text), (CppWithheld{.count = 1, .line = 2}));
    const std::string exact = "auto d = WorkflowBuilder(\"w\").step(\"a\").step(\"a\").build();\n";
    EXPECT_EQ(withheld_problems(only(exact), exact), CppWithheld());
}

TEST(CppBuilder, half_typed_code_never_ends_the_scan) {
    for (const char* file :
         {"tests/unit/source/samples.cpp",
          "examples/order/order.cpp",
          "tests/unit/yaml/builder_test.cpp"}) {
        const std::string text = read(fs::path(EBB_SOURCE_DIR) / file);
        ASSERT_FALSE(text.empty()) << file;
        for (std::size_t end = 0; end < text.size(); end += 97) {
            for (const CppWorkflow& workflow :
                 scan_workflows(std::string_view(text).substr(0, end))) {
                EXPECT_LE(workflow.place.end, end);
            }
        }
    }
}

TEST(CppBuilder, hostile_code_is_bounded) {
    std::string deep = "auto d = WorkflowBuilder(\"w\")";
    for (int i = 0; i < 500; ++i) deep += ".condition(\"c\", \"x\", [](BlockBuilder& b) { b";
    EXPECT_LE(scan_workflows(deep).size(), 1U);
    const CppWorkflow self = built("auto f = [](BlockBuilder& x) { x.step(\"a\"); f(x); };\nf(b);");
    EXPECT_FALSE(self.is_exact());
    std::string wide = "void f(BlockBuilder& b) {";
    for (int i = 0; i < 20; ++i) wide += "for (const char* n : {\"a\",\"b\",\"c\",\"d\"}) {";
    wide += "b.step(n);" + std::string(20, '}') +
            "}\nvoid g() { WorkflowBuilder w(\"w\"); f(w); w.build(); }";
    EXPECT_EQ(scan_workflows(wide).size(), 1U);
}

/// Hundreds of thousands of looks for each byte, unless something counts them.
std::vector<std::string> hostile_texts() {
    std::string wide = "void f(BlockBuilder& b) {";
    for (int i = 0; i < 20; ++i) wide += "for (const char* n : {\"a\",\"b\",\"c\",\"d\"}) {";
    wide += "b.step(n);" + std::string(20, '}') + "}\n";
    std::string again;
    for (int i = 0; i < 900; ++i)
        again += "void g() { WorkflowBuilder w(\"w\"); f(w); w.build(); }\n";
    std::string constants = "constexpr auto c0 = 1;\n";
    for (int i = 1; i < 40; ++i) {
        const std::string before = "c" + std::to_string(i - 1);
        constants +=
            "constexpr auto c" + std::to_string(i) + " = " + before + " + " + before + ";\n";
    }
    std::string uses;
    for (int i = 0; i < 900; ++i) {
        uses += "auto d = WorkflowBuilder(\"w\", c39).step(\"a\").max_attempts(c39).build();\n";
    }
    std::string names = "void f() { WorkflowBuilder b(\"w\");\n";
    for (int i = 0; i < 4'000; ++i) names += "auto s" + std::to_string(i) + " = b.step(\"a\");\n";
    for (int i = 0; i < 100'000; ++i) names += "x" + std::to_string(i) + ",";
    std::string open;
    for (int i = 0; i < 100'000; ++i) open += "const int a = WorkflowBuilder(\"x\"";
    std::string raw;
    for (int i = 0; i < 300'000; ++i) raw += "R\"a\" ";
    return {wide + again, constants + uses, names, open, raw + "WorkflowBuilder"};
}

TEST(CppBuilder, the_time_grows_with_the_size_of_the_code_alone) {
    for (const std::string& text : hostile_texts()) {
        for (const std::size_t size : {text.size() / 4, text.size()}) {
            const std::clock_t start = std::clock();
            scan_cpp(std::string_view(text).substr(0, size));
            const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
            // Some hundred times the time of usual code; without the limit, minutes.
            EXPECT_LT(seconds, 2 + 5e-6 * static_cast<double>(size)) << text.substr(0, 100);
        }
    }
}

TEST(CppBuilder, what_takes_too_many_looks_is_not_called_exact) {
    for (const std::string& text : hostile_texts()) {
        const CppCode code(text);
        for (const CppWorkflow& workflow : scan_workflows(text)) {
            if (workflow.definition.name != "w") continue;
            const bool may_be_exact = workflow.definition.steps.size() == 1 || !workflow.is_exact();
            EXPECT_TRUE(may_be_exact) << workflow.definition.steps.size();
        }
    }
}

TEST(CppCode, counts_its_looks) {
    const CppCode code("int a;");
    EXPECT_TRUE(code.look(CppCodeLimits::kLooksMin));
    EXPECT_FALSE(code.is_exhausted());
    EXPECT_FALSE(code.look(1'000));
    EXPECT_TRUE(code.is_exhausted());
    const CppCode large(std::string(CppCodeLimits::kTokensMax + 1, ';'));
    EXPECT_EQ(large.size(), 0U);
}

TEST(CppHandlers, that_a_workflow_calls_have_places) {
    const std::string text =
        "const std::string kBank = \"bank\";\n"
        "auto d = WorkflowBuilder(\"w\").step(\"a\").handler(kBank).compensate(\"undo\")\n"
        ".step(name).condition(\"c\", \"x\", [](BlockBuilder& b) { b.step(\"in\"); }).build();\n";
    std::vector<std::string> found;
    for (const CppHandler& handler : called_handlers(only(text))) {
        const CppPlace& place = handler.place;
        found.push_back(handler.name + " " + text.substr(place.begin, place.end - place.begin));
    }
    EXPECT_EQ(found, (Names{"bank kBank", "undo \"undo\"", "in \"in\""}));
}

TEST(CppHandlers, are_found_where_they_are_registered) {
    const std::string text =
        "handlers.add(\"charge\", [](int) {});\n"
        "registry->add<Order, Receipt>(\"ship\", ship);\n"
        "for (const char* n : {\"a\", \"b\"}) handlers.add_raw(n, [](const Payload&) {});\n"
        "handlers.add(name, f);\nlist.add(\"x\");\n";
    std::vector<std::string> found;
    for (const CppHandler& handler : scan_handlers(text)) {
        found.push_back(handler.name);
        EXPECT_EQ(
            text.substr(handler.place.begin, handler.place.end - handler.place.begin),
            '"' + handler.name + '"'
        );
    }
    EXPECT_EQ(found, (Names{"charge", "ship", "a", "b"}));
}

}  // namespace
}  // namespace ebb::test
