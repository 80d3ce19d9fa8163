// Formatting: a usual form, the same meaning, and nothing more to do the second time.

#include "lsp/format.h"

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

#include "client.h"
#include "ebb_test_dirs.h"

namespace ebb::lsp::test {
namespace {

namespace fs = std::filesystem;

std::string formatted(std::string_view text) {
    return apply_edits(text, format_edits(text));
}

TEST(Format, gives_the_usual_form) {
    EXPECT_EQ(
        formatted("workflow:   order   \n"
                  "deadline :  1h\n"
                  "\n"
                  "\n"
                  "handlers:\n"
                  "     charge: {http:   {url: x},a: [1,2 , 3 ]}\n"
                  "# what is done\n"
                  "steps:\n"
                  "-   step: a\n"
                  "    timeout:   5s # soon\n"
                  "    # about b\n"
                  "- condition: large\n"
                  "  when:  \"a  ==  'b' \"\n"
                  "  then:\n"
                  "      -  b\n"
                  "      -  - c\n"
                  "         - d\n"),
        "workflow: order\n"
        "deadline: 1h\n"
        "\n"
        "handlers:\n"
        "  charge: {http: {url: x}, a: [1, 2, 3]}\n"
        "\n"
        "# what is done\n"
        "steps:\n"
        "  - step: a\n"
        "    timeout: 5s # soon\n"
        "    # about b\n"
        "  - condition: large\n"
        "    when: \"a  ==  'b' \"\n"
        "    then:\n"
        "      - b\n"
        "      - - c\n"
        "        - d\n"
    );
}

TEST(Format, moves_texts_of_several_lines_as_a_whole) {
    EXPECT_EQ(
        formatted("workflow: w\nsteps:\n    - step: a\n      description: |\n"
                  "            one  \n          \n              two\n"
                  "      input: {a: \"x\n          y\",\n         b: 1}\n"),
        "workflow: w\nsteps:\n  - step: a\n    description: |\n"
        "          one  \n          \n            two\n"
        "    input: {a: \"x\n        y\",\n       b: 1}\n"
    );
}

TEST(Format, leaves_alone_what_it_cannot_read) {
    for (const char* text :
         {"workflow: [\n",
          "steps:\n\t- a\n",
          "workflow:  a\n---\nworkflow:  b\n",
          "\xEF\xBB\xBFworkflow:   a\n",
          ""}) {
        EXPECT_TRUE(format_edits(text).empty()) << text;
    }
}

TEST(Format, keeps_the_breaks_of_lines) {
    EXPECT_EQ(
        formatted("workflow:  w\r\nhandlers:\r\n    a: {exec: [b]}\r\nsteps:\r\n- a  \r\n"),
        "workflow: w\r\nhandlers:\r\n  a: {exec: [b]}\r\n\r\nsteps:\r\n  - a\r\n"
    );
    EXPECT_EQ(formatted("workflow:  w"), "workflow: w");
}

std::vector<std::string> corpus() {
    std::vector<std::string> texts;
    for (const char* folder : {"examples", "tests", "docs"}) {
        for (const auto& entry :
             fs::recursive_directory_iterator(fs::path(EBB_SOURCE_DIR) / folder)) {
            const std::string ending = entry.path().extension().string();
            if (ending != ".yaml" && ending != ".yml") continue;
            std::ostringstream text;
            text << std::ifstream(entry.path()).rdbuf();
            texts.push_back(text.str());
        }
    }
    return texts;
}

TEST(Format, changes_nothing_the_second_time) {
    const std::vector<std::string> texts = corpus();
    ASSERT_GE(texts.size(), 50U);
    std::mt19937 random(11);
    std::size_t changed = 0;
    for (const std::string& text : texts) {
        for (int round = 0; round < 6; ++round) {
            // More blanks at places where they mean nothing, or something.
            std::string messy = text;
            for (int i = 0; i < 3 * round && !messy.empty(); ++i) {
                const std::size_t at = messy.find_first_of(" \n", random() % messy.size());
                if (at != std::string::npos) messy.insert(at, 1 + random() % 2, messy[at]);
            }
            const std::string once = formatted(messy);
            changed += once == messy ? 0 : 1;
            EXPECT_EQ(formatted(once), once) << messy;
        }
    }
    EXPECT_GE(changed, texts.size());
}

TEST(Format, takes_linear_time) {
    std::string text = "workflow: w\ndescription: |\n";
    while (text.size() < 900'000) text += "  a\n\n\n";
    EXPECT_EQ(formatted(text), text);
    text = "workflow: w\n";
    while (text.size() < 900'000) text += "\n";
    EXPECT_EQ(formatted(text), "workflow: w\n\n");
}

TEST(Format, is_offered_for_yaml) {
    Client client;
    EXPECT_EQ(client.initialized["result"]["capabilities"]["documentFormattingProvider"], true);
    const std::string text = "workflow:  é😀\nsteps:\n-  a\n";
    client.open(text);
    const Json edits = client.ask("textDocument/formatting");
    EXPECT_EQ(
        client.after({{"changes", {{"file:///order.ebb.yaml", edits}}}}),
        "workflow: é😀\nsteps:\n  - a\n"
    );
    client.open("{\"workflow\":  \"a\", \"steps\": []}", "file:///a.ebb.json");
    EXPECT_TRUE(client.ask("textDocument/formatting").is_null());
    client.open("void f() { h.add(\"a\",  b); }", "file:///a.cpp");
    EXPECT_TRUE(client.ask("textDocument/formatting").is_null());
}

}  // namespace
}  // namespace ebb::lsp::test
