// What `ebb lsp` reads of a workspace: the files that can name handlers, in slices, and nothing
// that a link, a pipe or a huge folder could lead to.

#include "cli/editor/workspace_files.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "cli/ignore_rules.h"
#include "lsp/uri.h"
#include "support/os_file.h"

namespace ebb::cli::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

/// A workspace on disk with a language server.
class Workspace {
 public:
    void write(const std::string& name, const std::string& text) const {
        fs::create_directories(path(name).parent_path());
        std::ofstream(path(name), std::ios::binary) << text;
    }

    /// Code that registers one handler.
    void write_handler(const std::string& name, const std::string& handler) const {
        write(name, "void f() { handlers.add(\"" + handler + "\", g); }\n");
    }

    fs::path path(const std::string& name) const { return root_ / name; }

    void start(Json options = Json::object()) {
        server_.handle(
            {{"jsonrpc", "2.0"},
             {"id", 1},
             {"method", "initialize"},
             {"params",
              {{"rootUri", lsp::uri_of_path(root_.string())},
               {"initializationOptions", std::move(options)}}}}
        );
        finish();
    }

    /// Reads what there is to read.
    void finish() {
        while (files_.has_work()) {
            ++steps_;
            for (std::string& text : files_.step()) told_.push_back(std::move(text));
        }
    }

    void tell_change(const std::string& name) {
        server_.handle(
            {{"jsonrpc", "2.0"},
             {"method", "workspace/didChangeWatchedFiles"},
             {"params", {{"changes", {{{"uri", lsp::uri_of_path(path(name).string())}}}}}}}
        );
        finish();
    }

    /// The handlers that completion offers.
    std::vector<std::string> handlers() {
        const std::string uri = "file:///elsewhere/w.ebb.yaml";
        const std::string text = "workflow: w\nsteps:\n  - step: a\n    handler: \n";
        server_.handle(
            {{"jsonrpc", "2.0"},
             {"method", "textDocument/didOpen"},
             {"params", {{"textDocument", {{"uri", uri}, {"version", 1}, {"text", text}}}}}}
        );
        const auto answers = server_.handle(
            {{"jsonrpc", "2.0"},
             {"id", 2},
             {"method", "textDocument/completion"},
             {"params",
              {{"textDocument", {{"uri", uri}}}, {"position", {{"line", 3U}, {"character", 13U}}}}}}
        );
        std::vector<std::string> labels;
        for (const Json& item : answers.at(0)["result"]["items"]) {
            labels.push_back(item["label"].get<std::string>());
        }
        return labels;
    }

    const std::vector<std::string>& told() const { return told_; }

    int steps() const { return steps_; }

    bool has_read() { return files_.has_read(); }

 private:
    TempDirectory directory_;
    fs::path root_ = fs::canonical(directory_.path());
    lsp::Server server_;
    WorkspaceFiles files_{server_, {}};
    std::vector<std::string> told_;
    int steps_ = 0;
};

TEST(WorkspaceFiles, are_the_code_and_the_workflows) {
    Workspace workspace;
    workspace.write_handler("src/order.cpp", "charge");
    workspace.write_handler("include/shop/order.hpp", "ship");
    workspace.write_handler("notes.txt", "no_text");
    workspace.write_handler(".hidden/a.cpp", "no_hidden");
    workspace.start();
    EXPECT_THAT(workspace.handlers(), IsSupersetOf({"charge", "ship"}));
    EXPECT_THAT(workspace.handlers(), Not(Contains("no_text")));
    EXPECT_THAT(workspace.handlers(), Not(Contains("no_hidden")));
}

TEST(WorkspaceFiles, leave_out_what_gitignore_and_the_configuration_name) {
    Workspace workspace;
    workspace.write(".gitignore", "/build/\n*.gen.cpp\n");
    workspace.write("lib/.gitignore", "!kept.gen.cpp\nold/**\n");
    workspace.write(".ebbrc.yaml", "exclude: [third_party/]\n");
    workspace.write_handler("build/a.cpp", "no_build");
    workspace.write_handler("src/a.gen.cpp", "no_generated");
    workspace.write_handler("lib/kept.gen.cpp", "kept");
    workspace.write_handler("lib/old/deep/a.cpp", "no_old");
    workspace.write_handler("third_party/a.cpp", "no_third");
    workspace.write_handler("docs/a.cpp", "no_docs");
    workspace.write_handler("src/build/a.cpp", "deep_build");
    workspace.start({{"exclude", {"/docs"}}});
    const std::vector<std::string> handlers = workspace.handlers();
    EXPECT_THAT(handlers, IsSupersetOf({"kept", "deep_build"}));
    for (const char* name : {"no_build", "no_generated", "no_old", "no_third", "no_docs"}) {
        EXPECT_THAT(handlers, Not(Contains(name)));
    }
    // Also when the editor says that they have changed.
    for (const char* file : {"build/a.cpp", "src/a.gen.cpp", "lib/old/deep/a.cpp", "docs/a.cpp"}) {
        workspace.tell_change(file);
    }
    EXPECT_EQ(workspace.handlers(), handlers);
    EXPECT_THAT(workspace.told(), IsEmpty());
}

TEST(WorkspaceFiles, are_those_that_the_patterns_for_handlers_name) {
    Workspace workspace;
    workspace.write(".ebbrc.yaml", "handlers: [\"src/**/*.cpp\"]\n");
    workspace.write_handler("src/deep/a.cpp", "wanted");
    workspace.write_handler("tests/a.cpp", "no_test");
    workspace.start();
    EXPECT_THAT(workspace.handlers(), Contains("wanted"));
    EXPECT_THAT(workspace.handlers(), Not(Contains("no_test")));
}

TEST(WorkspaceFiles, follow_changes) {
    Workspace workspace;
    workspace.write_handler("a.cpp", "before");
    workspace.start();
    EXPECT_THAT(workspace.handlers(), Contains("before"));
    workspace.write_handler("a.cpp", "behind");
    workspace.tell_change("a.cpp");
    EXPECT_THAT(workspace.handlers(), Contains("behind"));
    EXPECT_THAT(workspace.handlers(), Not(Contains("before")));
    fs::remove(workspace.path("a.cpp"));
    workspace.tell_change("a.cpp");
    EXPECT_THAT(workspace.handlers(), Not(Contains("behind")));
    workspace.write_handler("b.cpp", "late");
    workspace.write(".ebbrc.yaml", "exclude: [c.cpp]\n");
    workspace.tell_change(".ebbrc.yaml");
    EXPECT_THAT(workspace.handlers(), Contains("late"));
}

TEST(WorkspaceFiles, follow_no_link_and_wait_for_no_pipe) {
    Workspace workspace;
    Workspace other;
    other.write_handler("outside.cpp", "outside");
    workspace.write_handler("inside.cpp", "inside");
    fs::create_symlink(other.path("outside.cpp"), workspace.path("link.cpp"));
    fs::create_directory_symlink(other.path(""), workspace.path("folder"));
    fs::create_symlink("/dev/zero", workspace.path("zero.cpp"));
    ASSERT_EQ(::mkfifo(workspace.path("pipe.cpp").c_str(), 0600), 0);
    ASSERT_EQ(::mkfifo(workspace.path("types.yaml").c_str(), 0600), 0);
    workspace.write("big.cpp", "void f() { h.add(\"big\", g); }" + std::string(1 << 20, ' '));
    fs::create_symlink(other.path("outside.cpp"), workspace.path(".gitignore"));
    workspace.write(".ebbrc.yaml", "types: [types.yaml, zero.cpp, folder/outside.cpp]\n");
    workspace.start();
    for (const char* file : {"link.cpp", "folder/outside.cpp", "zero.cpp", "pipe.cpp"}) {
        workspace.tell_change(file);
    }
    EXPECT_THAT(workspace.handlers(), ElementsAre("inside"));
    EXPECT_EQ(workspace.told().size(), 3U);
    EXPECT_THAT(workspace.told(), Contains(HasSubstr("\"types.yaml\" cannot be read")));
}

TEST(WorkspaceFiles, are_not_all_read_if_code_is_too_large) {
    Workspace workspace;
    workspace.write_handler("a.cpp", "small");
    workspace.write("notes.yaml", std::string(2 << 20, ' '));
    workspace.start();
    EXPECT_TRUE(workspace.has_read());
    fs::remove(workspace.path("a.cpp"));
    workspace.tell_change("a.cpp");
    EXPECT_TRUE(workspace.has_read());
    // So no one says that a handler is missing, which may be in it.
    workspace.write("big.cpp", "void f() { h.add(\"big\", g); }" + std::string(1 << 20, ' '));
    workspace.tell_change("big.cpp");
    EXPECT_FALSE(workspace.has_read());
}

TEST(WorkspaceFiles, are_read_in_slices) {
    Workspace workspace;
    for (int i = 0; i < 3; ++i) {
        workspace.write(
            "big" + std::to_string(i) + ".cpp",
            "void f() { h.add(\"big\", g); }" + std::string(300'000, ' ')
        );
    }
    for (std::size_t i = 0; i < 2 * WorkspaceFiles::kSliceEntriesMax; ++i) {
        workspace.write("many/" + std::to_string(i) + ".txt", "");
    }
    workspace.start();
    EXPECT_THAT(workspace.handlers(), Contains("big"));
    EXPECT_GE(workspace.steps(), 5);
}

TEST(WorkspaceFiles, bring_the_types_of_the_configuration) {
    Workspace workspace;
    workspace.write("types/mail.yaml", "types:\n  mail:\n    exec: [mail]\n");
    workspace.write(".ebbrc.yaml", "types: [types/mail.yaml]\n");
    workspace.start();
    EXPECT_THAT(workspace.handlers(), Contains("mail"));
    EXPECT_THAT(workspace.told(), IsEmpty());
    workspace.write("types/mail.yaml", "types: 5\n");
    workspace.tell_change(".ebbrc.yaml");
    EXPECT_THAT(workspace.told(), ElementsAre(HasSubstr("types/mail.yaml:1:")));
    workspace.write(".ebbrc.yaml", "typs: []\n");
    workspace.tell_change(".ebbrc.yaml");
    EXPECT_THAT(workspace.told().back(), HasSubstr(".ebbrc.yaml:1: There is no key \"typs\""));
}

TEST(IgnoreRules, mean_what_git_means) {
    using Verdict = IgnoreRules::Verdict;
    const IgnoreRules rules(
        "# build\n\n*.log\n/top.txt\ndocs/*.pdf\ntmp/\n!keep.log\n\\#odd\nall/**\n**/x/y\r\n"
    );
    const auto is_ignored = [&](const char* path, bool is_folder = false) {
        return rules.judge(path, is_folder) == Verdict::Ignored;
    };
    EXPECT_TRUE(is_ignored("a.log"));
    EXPECT_TRUE(is_ignored("deep/a.log"));
    EXPECT_EQ(rules.judge("deep/keep.log", false), Verdict::Kept);
    EXPECT_TRUE(is_ignored("top.txt"));
    EXPECT_FALSE(is_ignored("deep/top.txt"));
    EXPECT_TRUE(is_ignored("docs/a.pdf"));
    EXPECT_FALSE(is_ignored("docs/deep/a.pdf"));
    EXPECT_TRUE(is_ignored("deep/tmp", true));
    EXPECT_FALSE(is_ignored("tmp"));
    EXPECT_TRUE(is_ignored("#odd"));
    EXPECT_TRUE(is_ignored("all", true));
    EXPECT_TRUE(is_ignored("deep/x/y"));
    EXPECT_EQ(rules.judge("# build", false), Verdict::Silent);
}

}  // namespace
}  // namespace ebb::cli::testing
