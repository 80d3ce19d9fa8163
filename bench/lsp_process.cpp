// The language server as a process: the command is started with pipes, as an editor does.

#include "lsp_process.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace ebb::bench {

namespace {

constexpr int kStarts = 20;

using Json = nlohmann::json;

class Process {
 public:
    explicit Process(const std::string& command) {
        int in[2];
        int out[2];
        if (pipe(in) != 0 || pipe(out) != 0) throw std::runtime_error("no pipe");
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        posix_spawn_file_actions_adddup2(&actions, in[0], 0);
        posix_spawn_file_actions_adddup2(&actions, out[1], 1);
        for (const int end : {in[0], in[1], out[0], out[1]}) {
            posix_spawn_file_actions_addclose(&actions, end);
        }
        std::string program = command;
        std::string verb = "lsp";
        char* words[] = {program.data(), verb.data(), nullptr};
        const int failed = posix_spawn(&pid_, command.c_str(), &actions, nullptr, words, environ);
        posix_spawn_file_actions_destroy(&actions);
        close(in[0]);
        close(out[1]);
        in_ = in[1];
        out_ = out[0];
        if (failed != 0) throw std::runtime_error(command + " cannot be started");
    }

    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;

    ~Process() {
        close(in_);
        close(out_);
        waitpid(pid_, nullptr, 0);
    }

    void send(const Json& message) const {
        const std::string body = message.dump();
        const std::string text = fmt::format("Content-Length: {}\r\n\r\n{}", body.size(), body);
        std::string_view left = text;
        while (!left.empty()) {
            const ssize_t written = write(in_, left.data(), left.size());
            if (written <= 0) throw std::runtime_error("ebb lsp does not read");
            left.remove_prefix(static_cast<std::size_t>(written));
        }
    }

    /// Until the bytes that it sends hold the text.
    void await(std::string_view wanted) {
        char buffer[1 << 14];
        while (said_.find(wanted) == std::string::npos) {
            const ssize_t got = read(out_, buffer, sizeof buffer);
            if (got <= 0) throw std::runtime_error("ebb lsp has ended");
            said_.append(buffer, static_cast<std::size_t>(got));
        }
    }

    double resident_mib() const {
        std::ifstream file(fmt::format("/proc/{}/statm", pid_));
        long pages = 0;
        long resident = 0;
        file >> pages >> resident;
        return static_cast<double>(resident * sysconf(_SC_PAGESIZE)) / (1 << 20);
    }

 private:
    pid_t pid_ = 0;
    int in_ = -1;
    int out_ = -1;
    std::string said_;
};

const Json kInitialize = {
    {"jsonrpc", "2.0"}, {"id", 1}, {"method", "initialize"}, {"params", Json::object()}
};

double start_milliseconds() {
    const auto start = std::chrono::steady_clock::now();
    Process process(EBB_BENCH_COMMAND);
    process.send(kInitialize);
    process.await("\"serverInfo\"");
    const auto spent = std::chrono::steady_clock::now() - start;
    return std::chrono::duration<double, std::milli>(spent).count();
}

}  // namespace

std::vector<Figure> lsp_process_figures(const std::string& text) {
    if (!std::filesystem::exists(EBB_BENCH_COMMAND)) return {};
    std::vector<double> starts;
    for (int i = 0; i < kStarts; ++i) starts.push_back(start_milliseconds());
    const double start = percentile(starts, 0.95);

    Process process(EBB_BENCH_COMMAND);
    process.send(kInitialize);
    process.send(
        {{"jsonrpc", "2.0"},
         {"method", "textDocument/didOpen"},
         {"params",
          {{"textDocument", {{"uri", "file:///big.ebb.yaml"}, {"version", 1}, {"text", text}}}}}}
    );
    process.await("publishDiagnostics");
    const double memory = process.resident_mib();
    return {
        {.name = "lsp_start",
         .value = start,
         .unit = "ms",
         .yardstick = "at most 15 ms",
         .ratio = 15 / std::max(start, 0.001),
         .goal = 1,
         .runs = std::move(starts),
         .note = "from the start of the process to its answer to initialize; p95 of 20"},
        {.name = "lsp_process_5000",
         .value = memory,
         .unit = "MiB",
         .yardstick = "at most 40 MiB",
         .ratio = memory == 0 ? 0 : 40 / memory,
         .goal = 1,
         .runs = {memory},
         .note = "resident memory of the whole process with the text open"},
    };
}

}  // namespace ebb::bench
