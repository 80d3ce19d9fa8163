<<<<<<< HEAD
// ebb_bench [kernel|sqlite|postgres|stateless|lsp|server|size|all] [FIGURE] [--json] [--steps=N]
// [--only NAME] [--seconds N]: Ebb's figures, each beside its yardstick of the same run. Of
// postgres and server, whose suites are long, also one figure alone.
// --steps=N: how many the figure pg_steady runs. --seconds N: of each measurement of server.
=======
// ebb_bench [kernel|sqlite|postgres|stateless|lsp|size|rules|all] [FIGURE] [--json] [--steps=N]:
// Ebb's figures, each beside its yardstick of the same run. Of postgres, whose suite is long, also
// one figure alone.
// --steps=N: how many the figure pg_steady runs. --seconds=N: one run of each figure of rules, N
// seconds long, to see that it works.
>>>>>>> analysis

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "report.h"

int main(int count, char** values) {
    std::vector<std::string> words;
    bool as_json = false;
    std::string only;
    double seconds = 3;
    ebb::bench::PostgresAsked asked;
    ebb::bench::RulesAsked rules;
    for (int i = 1; i < count; ++i) {
        const std::string_view argument = values[i];
        if (argument == "--json") {
            as_json = true;
        } else if (argument.starts_with("--steps=")) {
            asked.steps = std::atoll(argument.substr(8).data());
<<<<<<< HEAD
        } else if (argument == "--only" && i + 1 < count) {
            only = values[++i];
        } else if (argument == "--seconds" && i + 1 < count) {
            seconds = std::atof(values[++i]);
=======
        } else if (argument.starts_with("--seconds=")) {
            rules.seconds = std::atof(argument.substr(10).data());
            rules.runs = 1;
>>>>>>> analysis
        } else {
            words.emplace_back(argument);
        }
    }
    const std::string suite = words.empty() ? "all" : words[0];
    if (words.size() > 1) only = words[1];
    asked.only = only;
    rules.only = only;
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
        add("sqlite", ebb::bench::sqlite_figures);
        add("postgres", [&] { return ebb::bench::postgres_figures(asked); });
        add("stateless", ebb::bench::stateless_figures);
        add("lsp", ebb::bench::lsp_figures);
#ifdef EBB_BENCH_SERVER
        add("server", [&] { return ebb::bench::server_figures({only, seconds}); });
#endif
        add("size", ebb::bench::size_figures);
        add("rules", [&] { return ebb::bench::rules_figures(rules); });
    } catch (const std::exception& error) {
        std::fprintf(stderr, "ebb_bench: %s\n", error.what());
        return 1;
    }
    if (figures.empty()) {
        std::fprintf(
            stderr,
            "ebb_bench: no suite or figure \"%s\"; there are kernel, sqlite, postgres, stateless, "
<<<<<<< HEAD
            "lsp, server, size and all\n",
=======
            "lsp, size, rules and all\n",
>>>>>>> analysis
            (only.empty() ? suite : only).c_str()
        );
        return 2;
    }
    std::fputs(ebb::bench::render(figures, as_json).c_str(), stdout);
    return 0;
}
