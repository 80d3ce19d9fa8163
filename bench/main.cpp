// ebb_bench [kernel|sqlite|postgres|stateless|lsp|server|rules|size|all] [FIGURE] [--json]
// [--steps=N] [--only NAME] [--seconds N]: Ebb's figures, each beside its yardstick of the same
// run. Of sqlite, postgres, server and rules, also one figure alone.
// --steps=N: how many the figure pg_steady runs. --seconds N: of each measurement of server, and of
// one run of each figure of rules.

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "report.h"

namespace {

struct Arguments {
    std::vector<std::string> words{};
    bool as_json = false;
    std::string only{};
    double seconds = 3;
    ebb::bench::PostgresAsked postgres{};
    ebb::bench::RulesAsked rules{};
};

Arguments read(int count, char** values) {
    Arguments read;
    for (int i = 1; i < count; ++i) {
        const std::string_view argument = values[i];
        if (argument == "--json") {
            read.as_json = true;
        } else if (argument.starts_with("--steps=")) {
            read.postgres.steps = std::atoll(argument.substr(8).data());
        } else if (argument == "--only" && i + 1 < count) {
            read.only = values[++i];
        } else if (argument == "--seconds" && i + 1 < count) {
            read.seconds = std::atof(values[++i]);
            read.rules.seconds = read.seconds;
            read.rules.runs = 1;
        } else {
            read.words.emplace_back(argument);
        }
    }
    return read;
}

}  // namespace

int main(int count, char** values) {
    Arguments asked = read(count, values);
    std::string& only = asked.only;
    const std::string suite = asked.words.empty() ? "all" : asked.words[0];
    if (asked.words.size() > 1) only = asked.words[1];
    asked.postgres.only = only;
    asked.rules.only = only;
    using ebb::bench::Figure;
    std::vector<Figure> figures;
    const auto add = [&](std::string_view name,
                         const std::function<std::vector<Figure>()>& measure) {
        if (suite != "all" && suite != name) return;
        std::vector<Figure> more = measure();
        figures.insert(
            figures.end(),
            std::make_move_iterator(more.begin()),
            std::make_move_iterator(more.end())
        );
    };
    try {
        add("kernel", ebb::bench::kernel_figures);
        add("sqlite", [&] { return ebb::bench::sqlite_figures(only); });
        add("postgres", [&] { return ebb::bench::postgres_figures(asked.postgres); });
        add("stateless", ebb::bench::stateless_figures);
        add("lsp", ebb::bench::lsp_figures);
#ifdef EBB_BENCH_SERVER
        add("server", [&] { return ebb::bench::server_figures({only, asked.seconds}); });
#endif
        add("size", ebb::bench::size_figures);
        add("rules", [&] { return ebb::bench::rules_figures(asked.rules); });
    } catch (const std::exception& error) {
        std::fprintf(stderr, "ebb_bench: %s\n", error.what());
        return 1;
    }
    if (figures.empty()) {
        std::fprintf(
            stderr,
            "ebb_bench: no suite or figure \"%s\"; there are kernel, sqlite, postgres, stateless, "
            "lsp, server, rules, size and all\n",
            (only.empty() ? suite : only).c_str()
        );
        return 2;
    }
    std::fputs(ebb::bench::render(figures, asked.as_json).c_str(), stdout);
    return ebb::bench::report_failures(figures) == 0 ? 0 : 1;
}
