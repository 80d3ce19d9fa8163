// The tolerant tree of lines agrees with libfyaml about every valid text, and says something useful
// about every other one: it never fails, and its ranges are nested and in order.

#include "yaml/line_tree.h"

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <ebb/error.h>

#include "ebb_test_dirs.h"
#include "yaml/scalar.h"
#include "yaml/yaml_document.h"

namespace ebb::yaml {
namespace {

namespace fs = std::filesystem;
using model::Document;

std::string read_file(const fs::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

std::vector<fs::path> corpus() {
    std::vector<fs::path> files;
    for (const char* folder : {"examples", "tests", "docs", "schema"}) {
        const fs::path root = fs::path(EBB_SOURCE_DIR) / folder;
        for (const auto& entry : fs::recursive_directory_iterator(root)) {
            const std::string extension = entry.path().extension().string();
            if (extension == ".yaml" || extension == ".yml" || extension == ".json") {
                files.push_back(entry.path());
            }
        }
    }
    return files;
}

/// Both as one notation: keys, list items and the texts of scalars.
void describe(const LineTree& tree, int node, std::string& out) {
    const TreeNode& here = tree.at(node);
    switch (here.kind) {
        case TreeNode::Kind::Missing:
            out += "~";
            break;
        case TreeNode::Kind::Alias:
            out += "*";
            break;
        case TreeNode::Kind::Scalar: {
            std::string text = tree.scalar(node);
            // What a block keeps of its last line breaks is its header's affair.
            while (text.ends_with('\n')) text.pop_back();
            const bool is_plain = here.style == Document::Style::Plain;
            const auto resolved = is_plain ? resolve_plain(text) : std::nullopt;
            out += resolved ? resolved->dump() : Json(text).dump();
            break;
        }
        case TreeNode::Kind::Map:
        case TreeNode::Kind::List:
            out += here.kind == TreeNode::Kind::Map ? "{" : "[";
            for (const int child : here.children) {
                if (here.kind == TreeNode::Kind::Map) out += tree.key(child) + ":";
                describe(tree, child, out);
                out += ",";
            }
            out += here.kind == TreeNode::Kind::Map ? "}" : "]";
    }
}

void describe(const Document& document, std::string& out) {
    if (document.is_map()) {
        out += "{";
        for (const Document::Member& member : document.members) {
            out += member.key + ":";
            describe(member.value, out);
            out += ",";
        }
        out += "}";
    } else if (document.is_list()) {
        out += "[";
        for (const Document& element : document.elements) {
            describe(element, out);
            out += ",";
        }
        out += "]";
    } else if (document.is_text()) {
        std::string text = document.text();
        while (text.ends_with('\n')) text.pop_back();
        out += Json(text).dump();
    } else {
        out += document.type == Document::Type::Null ? "~" : document.scalar.dump();
    }
}

std::string text_of(const LineTree& tree) {
    std::string out;
    describe(tree, 0, out);
    // An explicit null is a null.
    for (std::size_t at = out.find("null"); at != std::string::npos; at = out.find("null", at)) {
        const bool is_word =
            (at == 0 || std::string("[{:,").find(out[at - 1]) != std::string::npos);
        if (is_word) out.replace(at, 4, "~");
        at += 1;
    }
    return out;
}

TEST(LineTree, agrees_with_the_parser_about_every_valid_text) {
    int compared = 0;
    for (const fs::path& file : corpus()) {
        const std::string text = read_file(file);
        std::string expected;
        if (text.find('&') != std::string::npos && text.find('*') != std::string::npos) continue;
        try {
            describe(parse_yaml_document(text, ""), expected);
        } catch (const Error&) {
            continue;
        }
        EXPECT_EQ(text_of(LineTree(text)), expected) << file;
        ++compared;
    }
    EXPECT_GT(compared, 100);
}

TEST(LineTree, knows_the_forms_of_yaml) {
    const std::vector<std::string> texts = {
        "a: 1\nb:\n  c: 2\n  d: 3\ne: 4\n",
        "a:\n- x\n- y\nb: 1\n",
        "a:\n  - x: 1\n    y: 2\n  - z: 3\n",
        "- - a\n  - b\n- - c\n",
        "a: |\n  one\n   two\n\n  three\nb: 1\n",
        "a: >-\n  one\n  two\n\n  three\n    more\n  four\nb: 1\n",
        "a: \"x\\ny \\u00e9 \\\"q\\\"\"\nb: 'it''s'\n",
        "a: plain\n  over lines\n\n  and more\nb: 1\n",
        "a: {b: [1, {c: d}], 'e': \"f\"}\nb: 1\n",
        "a: {b: 1,\n    c: 2}\nd: 3\n",
        "# comment\na: 1 # comment\n# more\nb: 'x # y'\n",
        "a: http://x/y#z\nb: a:b\n",
        "\"quoted key\": 1\n'other': 2\n",
        "---\na: 1\n",
        "a:\n\nb:\n",
        "- a\n-\n- b: 1\n",
        "a: \"over\n  lines\"\nb: 'over\n\n  lines'\n",
        "{\"a\": [1, 2.5, true, null], \"b\": {\"c\": \"\\ud83d\\ude00\"}}\n",
        "a: !!str 1\nb: &x y\n",
        "plain\n",
        "a:\r\n  - b\r\n  - c: 1\r\n",
    };
    for (const std::string& text : texts) {
        std::string expected;
        describe(parse_yaml_document(text, ""), expected);
        if (text.find("!!str") == std::string::npos) {
            EXPECT_EQ(text_of(LineTree(text)), expected) << text;
        }
    }
}

void expect_nested(const LineTree& tree) {
    for (std::size_t i = 1; i < tree.nodes().size(); ++i) {
        const TreeNode& node = tree.nodes()[i];
        ASSERT_LE(node.whole.begin, node.whole.end);
        ASSERT_LE(node.whole.end, tree.text().size());
        ASSERT_LE(node.value.end, tree.text().size());
        ASSERT_LT(node.parent, static_cast<int>(i));
        ASSERT_GE(node.whole.begin, tree.at(node.parent).whole.begin);
        ASSERT_LE(node.whole.end, tree.at(node.parent).whole.end);
        if (node.index == 0) continue;
        const int before = tree.at(node.parent).children[node.index - 1];
        ASSERT_LE(tree.at(before).whole.begin, node.whole.begin);
    }
}

TEST(LineTree, says_something_about_any_bytes) {
    std::mt19937 random(1);
    const std::string alphabet = "a:b- \n\t{}[]\"'|>#&*!,.$\r\\0\xc3\xa9";
    for (int round = 0; round < 3'000; ++round) {
        std::string text;
        for (std::size_t size = random() % 80; size > 0; --size) {
            text += alphabet[random() % alphabet.size()];
        }
        const LineTree tree(text);
        expect_nested(tree);
        ASSERT_LE(tree.nodes().size(), 2 * text.size() + 1) << text;
        for (std::size_t at = 0; at <= text.size(); ++at) ASSERT_GE(tree.innermost(at), 0);
        if (HasFatalFailure())
            FAIL() << Json(text).dump(-1, ' ', true, Json::error_handler_t::replace);
    }
}

TEST(LineTree, knows_half_a_text) {
    const std::string text = read_file(EBB_SOURCE_DIR "/examples/order.yaml");
    for (std::size_t size = 0; size <= text.size(); ++size) {
        const std::string half = text.substr(0, size);
        const LineTree tree(half);
        expect_nested(tree);
        if (HasFatalFailure()) FAIL() << half;
    }
}

TEST(LineTree, keeps_what_is_not_broken) {
    const std::string text =
        "workflow: a\nsteps:\n  - step: one\n    tim\n  - step: \"two\n  - step: three\n    "
        "timeout: 3s\n";
    const LineTree tree(text);
    const int three = tree.find_path("/steps/2/timeout");
    ASSERT_GE(three, 0);
    EXPECT_EQ(tree.scalar(three), "3s");
    EXPECT_EQ(tree.path(three), "/steps/2/timeout");
    EXPECT_EQ(tree.innermost(text.find("3s")), three);
}

TEST(LineTree, a_deep_text_takes_bounded_time) {
    const std::string brackets(100'000, '[');
    EXPECT_LE(LineTree(brackets).nodes().size(), brackets.size() + 1);
    std::string dashes;
    for (int i = 0; i < 100'000; ++i) dashes += "- ";
    EXPECT_LE(LineTree(dashes).nodes().size(), 300U);
    expect_nested(LineTree(dashes));
}

}  // namespace
}  // namespace ebb::yaml
