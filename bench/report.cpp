#include "report.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ebb::bench {

double percentile(std::vector<double> values, double p) {
    if (values.empty()) return 0;
    const auto at = static_cast<std::size_t>(p * static_cast<double>(values.size() - 1) + 0.5);
    std::nth_element(
        values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end()
    );
    return values[at];
}

double median(std::vector<double> values) {
    return percentile(std::move(values), 0.5);
}

namespace {

std::string number(double value) {
    if (value >= 1'000) return fmt::format("{:.0f}", value);
    return fmt::format("{:.3g}", value);
}

}  // namespace

std::string render(const std::vector<Figure>& figures, bool as_json) {
    if (as_json) {
        nlohmann::ordered_json array = nlohmann::ordered_json::array();
        for (const Figure& f : figures) {
            nlohmann::ordered_json details = nlohmann::ordered_json::object();
            for (const auto& [name, value] : f.details) details[name] = value;
            nlohmann::ordered_json figure = {
                {"name", f.name},
                {"value", f.value},
                {"unit", f.unit},
                {"yardstick", f.yardstick},
                {"ratio", f.ratio},
                {"goal", f.goal},
                {"runs", f.runs},
                {"note", f.note},
                {"details", std::move(details)}
            };
            if (!f.verdict.empty()) figure["verdict"] = f.verdict;
            array.push_back(std::move(figure));
        }
        return array.dump(2) + "\n";
    }
    std::string text = fmt::format(
        "{:<30} {:>12} {:<14} {:>7} {:>6}  {}\n",
        "figure",
        "value",
        "unit",
        "ratio",
        "goal",
        "yardstick"
    );
    for (const Figure& f : figures) {
        text += fmt::format(
            "{:<30} {:>12} {:<14} {:>7} {:>6}  {}{}\n",
            f.name,
            number(f.value),
            f.unit,
            f.ratio > 0 ? fmt::format("{:.2f}", f.ratio) : "",
            f.goal > 0 ? fmt::format("{:.2g}", f.goal) : "",
            f.verdict == "missed" ? "MISSED: " : "",
            f.yardstick.empty() ? f.note : f.yardstick
        );
        for (const auto& [name, value] : f.details) {
            text += fmt::format("{:>43} {}\n", number(value), name);
        }
    }
    return text;
}

void judge(std::vector<Figure>& figures) {
    for (Figure& figure : figures) {
        if (!figure.verdict.empty() || figure.goal <= 0) continue;
        const bool is_met =
            figure.goal_is_most ? figure.ratio <= figure.goal : figure.ratio >= figure.goal;
        figure.verdict = is_met ? "met" : "missed";
    }
}

int report_failures(const std::vector<Figure>& figures) {
    int count = 0;
    for (const Figure& figure : figures) {
        if (figure.verdict != "failed") continue;
        ++count;
        std::fprintf(stderr, "%s: %s\n", figure.name.c_str(), figure.note.c_str());
    }
    return count;
}

}  // namespace ebb::bench
