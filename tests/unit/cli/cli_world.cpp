#include "cli_world.h"

#include <fstream>
#include <regex>

namespace ebb::cli::testing {

CliWorld::CliWorld() = default;

std::string CliWorld::path(std::string_view name) const {
    return (directory_.path() / name).string();
}

std::string CliWorld::file(std::string_view name, std::string_view content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
}

void CliWorld::write_err(std::string_view text) {
    Interrupts* interrupts = nullptr;
    std::string all;
    {
        const std::lock_guard lock(mutex_);
        outcome_.err += text;
        all = outcome_.err;
        interrupts = interrupts_;
    }
    if (on_err && interrupts != nullptr) on_err(all, *interrupts);
}

Outcome CliWorld::run(const std::vector<std::string>& args) {
    static const SystemClock clock;
    outcome_ = {};
    CliStreams streams{
        .out =
            {.write =
                 [this](std::string_view text) {
                     if (is_closed) throw OutputClosed{};
                     const std::lock_guard lock(mutex_);
                     outcome_.out += text;
                 },
             .is_terminal = is_terminal,
             .columns = [this] { return columns; }},
        .err =
            {.write = [this](std::string_view text) { write_err(text); },
             .is_terminal = is_terminal,
             .columns = [this] { return columns; }},
        .read_input = [this] { return input; },
        .environment = [this](const std::string& name) -> std::optional<std::string> {
            const auto found = environment.find(name);
            if (found == environment.end()) return std::nullopt;
            return found->second;
        },
        .user_name = [this] { return user_name; },
        .catch_signals = [this](Interrupts& interrupts) -> std::shared_ptr<void> {
            interrupts_ = &interrupts;
            return {&interrupts, [this](void*) { interrupts_ = nullptr; }};
        },
        .clock = &clock,
        .open_store = [this](
                          std::string_view url, OpenMode mode
                      ) { return wrap_store(open_store(url, mode)); },
    };
    const int code = run_cli(args, streams);
    outcome_.code = code;
    return outcome_;
}

Outcome CliWorld::run_db(std::vector<std::string> args) {
    args.push_back("--db");
    args.push_back(path("ebb.db"));
    return run(args);
}

std::string started(CliWorld& world, std::string_view workflow, std::vector<std::string> more) {
    std::vector<std::string> args{"start", world.file("w.yaml", workflow)};
    args.insert(args.end(), more.begin(), more.end());
    std::string id = world.run_db(args).out;
    if (!id.empty()) id.pop_back();
    return id;
}

std::string normal(const CliWorld& world, std::string text) {
    const std::string directory = world.path("");
    for (std::size_t at = 0; (at = text.find(directory, at)) != std::string::npos;) {
        text.replace(at, directory.size(), "<dir>/");
    }
    const std::pair<const char*, const char*> rules[] = {
        {"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<id>"},
        {"\\b(?=[0-9a-f]*[0-9])[0-9a-f]{8}\\b", "<short>"},
        {"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+Z?( UTC)?", "<time>"},
        {"just now|[0-9]+s ago", "<ago>"},
        {"\\b[0-9]+(\\.[0-9]+)?m?s\\b", "<t>"},
        {" +\n", "\n"},
        {"([^ \n]) +", "$1 "},
    };
    for (const auto& [pattern, replacement] : rules) {
        text = std::regex_replace(text, std::regex(pattern), replacement);
    }
    return text;
}

std::string line_of(const std::string& text, std::size_t n) {
    std::size_t at = 0;
    for (; n > 0 && at != std::string::npos; --n) {
        at = text.find('\n', at);
        if (at != std::string::npos) ++at;
    }
    return at == std::string::npos ? std::string() : text.substr(at, text.find('\n', at) - at);
}

}  // namespace ebb::cli::testing
