// The language server with one text of 5,000 lines: what a keystroke costs, and what an editor
// waits for when it asks. In one thread, without the pipe between editor and server. Times are of
// the CPU, because the server has one thread.

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <ebb/yaml.h>

#include "lsp/lsp.h"
#include "lsp_process.h"
#include "report.h"
#include "source/cpp_workflow.h"

namespace ebb::bench {

namespace {

constexpr int kLines = 5'000;
constexpr int kFewLines = 200;
constexpr int kRuns = 60;
constexpr const char* kUri = "file:///big.ebb.yaml";

double cpu_milliseconds() {
    return 1'000 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

double resident_mib() {
    std::ifstream file("/proc/self/statm");
    long pages = 0;
    long resident = 0;
    file >> pages >> resident;
    return static_cast<double>(resident * sysconf(_SC_PAGESIZE)) / (1 << 20);
}

std::string text_of(int lines) {
    std::string text = "workflow: big\ndeadline: 1h\nsteps:\n";
    for (int step = 0; step < lines / 5; ++step) {
        text += fmt::format(
            "  - step: s{0}\n    handler: work\n    timeout: 30s\n"
            "    input: {{id: \"${{ workflow.input.n{0} }}\", n: {0}}}\n    compensate: undo\n",
            step
        );
    }
    return text;
}

/// An editor with the text open, in which a person types in the middle.
class Editor {
 public:
    Editor(const std::string& text, int lines)
        // The first line of the step in the middle; three lines are above the steps.
        : line_(static_cast<std::size_t>(lines / 10 * 5 + 3)) {
        server_.handle({{"id", 1}, {"method", "initialize"}, {"params", Json::object()}});
        server_.handle(
            {{"method", "textDocument/didOpen"},
             {"params", {{"textDocument", {{"uri", kUri}, {"version", 1}, {"text", text}}}}}}
        );
        server_.idle();
    }

    /// A keystroke, and the diagnostics of the text that it makes.
    void type() {
        const Json place = {{"line", line_}, {"character", 12U}};
        server_.handle(
            {{"method", "textDocument/didChange"},
             {"params",
              {{"textDocument", {{"uri", kUri}, {"version", ++version_}}},
               {"contentChanges", {{{"range", {{"start", place}, {"end", place}}}, {"text", "x"}}}}}
             }}
        );
        if (server_.idle().empty()) throw Error(ErrorCode::Internal, "no diagnostics came");
    }

    void ask(const char* method) {
        const auto answers = server_.handle(
            {{"id", ++version_},
             {"method", method},
             {"params",
              {{"textDocument", {{"uri", kUri}}},
               {"position", {{"line", line_ + 3}, {"character", 32U}}}}}}
        );
        if (!answers.at(0).contains("result")) throw Error(ErrorCode::Internal, method);
    }

 private:
    lsp::Server server_;
    std::size_t line_;
    int version_ = 1;
};

std::vector<double> measure(const std::function<void()>& run) {
    std::vector<double> times;
    for (int i = 0; i < kRuns; ++i) {
        const double start = cpu_milliseconds();
        run();
        times.push_back(cpu_milliseconds() - start);
    }
    return times;
}

Figure figure(const char* name, std::vector<double> times, double goal, const char* note) {
    const double value = percentile(times, 0.95);
    return {
        .name = name,
        .value = value,
        .unit = "ms",
        .yardstick = fmt::format("at most {} ms", goal),
        .ratio = value == 0 ? 0 : goal / value,
        .goal = 1,
        .runs = std::move(times),
        .note = note
    };
}

/// After a keystroke, so that nothing is known of the text yet.
std::vector<double> measure_request(Editor& editor, const char* method) {
    std::vector<double> times;
    for (int i = 0; i < kRuns; ++i) {
        editor.type();
        const double start = cpu_milliseconds();
        editor.ask(method);
        times.push_back(cpu_milliseconds() - start);
    }
    return times;
}

/// The files of this repository that build workflows, `bytes_min` at least.
std::string code_of_repository(std::size_t bytes_min) {
    namespace fs = std::filesystem;
    std::string all;
    const fs::path root = fs::path(EBB_BENCH_DIR).parent_path();
    for (const char* folder : {"bench", "examples", "tests"}) {
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
            if (!entry.is_regular_file() || !source::is_cpp_name(entry.path().string())) continue;
            std::ifstream file(entry.path(), std::ios::binary);
            std::stringstream text;
            text << file.rdbuf();
            if (source::may_have_workflows(text.str())) all += text.str();
        }
    }
    const std::string once = all;
    while (all.size() < bytes_min && !once.empty()) all += once;
    return all;
}

Figure scan_figure() {
    // A file is read as a whole, so several files in one cost more than each for itself.
    const std::string text = code_of_repository(std::size_t{1} << 20);
    std::vector<double> speeds;
    for (int i = 0; i < kRuns; ++i) {
        const double start = cpu_milliseconds();
        const source::CppFile found = source::scan_cpp(text);
        const double spent = cpu_milliseconds() - start;
        if (found.workflows.empty()) throw Error(ErrorCode::Internal, "no workflow was found");
        speeds.push_back(static_cast<double>(text.size()) / 1'000 / std::max(spent, 0.001));
    }
    const double value = median(speeds);
    return {
        .name = "lsp_scan_cpp",
        .value = value,
        .unit = "MB/s",
        .yardstick = "at least 50 MB/s",
        .ratio = value / 50,
        .goal = 1,
        .runs = std::move(speeds),
        .note = "the repository's own code with builders, as one file"
    };
}

}  // namespace

std::vector<Figure> lsp_figures() {
    const std::string text = text_of(kLines);
    const double bare = median(measure([&text] { parse_definition_yaml(text); }));
    const double before = resident_mib();
    Editor editor(text, kLines);
    Figure typed = figure(
        "lsp_diagnostics_5000", measure([&editor] { editor.type(); }), 30, "p95 of 60 keystrokes"
    );
    const double memory = resident_mib() - before;
    typed.details = {{"bare parse ms", bare}, {"times the bare parse", typed.value / bare}};
    std::vector<Figure> figures{std::move(typed)};
    const auto ask = [&](const char* name, const char* method, double goal) {
        figures.push_back(figure(name, measure_request(editor, method), goal, "p95 of 60"));
    };
    Editor small(text_of(kFewLines), kFewLines);
    figures.push_back(figure(
        "lsp_diagnostics_200", measure([&small] { small.type(); }), 3, "p95 of 60 keystrokes"
    ));
    ask("lsp_completion_5000", "textDocument/completion", 20);
    ask("lsp_hover_5000", "textDocument/hover", 10);
    ask("lsp_tokens_5000", "textDocument/semanticTokens/full", 30);
    ask("lsp_diagram_5000", "ebb/diagram", 40);
    figures.push_back(
        {.name = "lsp_memory_5000",
         .value = memory,
         .unit = "MiB",
         .yardstick = "at most 40 MiB",
         .ratio = memory == 0 ? 0 : 40 / memory,
         .goal = 1,
         .runs = {memory},
         .note = "what the open text adds to the process"}
    );
    figures.push_back(scan_figure());
    for (Figure& process : lsp_process_figures(text)) figures.push_back(std::move(process));
    judge(figures);
    return figures;
}

}  // namespace ebb::bench
