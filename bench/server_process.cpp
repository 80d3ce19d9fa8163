#include "server_process.h"

#include <chrono>
#include <csignal>
#include <stdexcept>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ebb::bench {

namespace {

constexpr int kInheritedAs = 3;

/// In the child: only calls that are safe between fork and exec.
[[noreturn]] void become(char* const* arguments, int output, int inherited, pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    dup2(output, STDOUT_FILENO);
    // A copy of a descriptor on itself would still be closed by exec.
    if (inherited == kInheritedAs) fcntl(inherited, F_SETFD, 0);
    if (inherited >= 0 && inherited != kInheritedAs) dup2(inherited, kInheritedAs);
    // What is inherited otherwise: the clients' sockets of this process.
    constexpr unsigned kAll = ~0U;
    close_range(inherited >= 0 ? kInheritedAs + 1 : kInheritedAs, kAll, 0);
    execv(arguments[0], arguments);
    _exit(127);
}

/// Reads up to the next line feed; false at the end.
bool read_line(int descriptor, std::string& buffer, std::string& line) {
    while (true) {
        if (const std::size_t end = buffer.find('\n'); end != std::string::npos) {
            line = buffer.substr(0, end);
            buffer.erase(0, end + 1);
            return true;
        }
        char bytes[4'096];
        const ssize_t count = read(descriptor, bytes, sizeof(bytes));
        if (count <= 0) return false;
        buffer.append(bytes, static_cast<std::size_t>(count));
    }
}

}  // namespace

ServerProcess::ServerProcess(const std::vector<std::string>& command, int inherited) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe for a server");
    std::vector<char*> arguments;
    for (const std::string& part : command) arguments.push_back(const_cast<char*>(part.c_str()));
    arguments.push_back(nullptr);
    const auto begun = std::chrono::steady_clock::now();
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ == 0) become(arguments.data(), ends[1], inherited, parent);
    ::close(ends[1]);
    output_ = ends[0];
    std::string buffer;
    for (std::string line; port_ == 0 && read_line(output_, buffer, line);) read_greeting(line);
    ready_ms_ =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
    if (port_ == 0) {
        waitpid(pid_, nullptr, 0);
        pid_ = -1;
        ::close(output_);
        throw std::runtime_error(fmt::format("{} did not begin to serve", command.front()));
    }
    reader_ = std::jthread([descriptor = output_] {
        std::string rest;
        for (std::string line; read_line(descriptor, rest, line);) {
        }
    });
}

void ServerProcess::read_greeting(const std::string& line) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || json.value("event", "") != "serving") return;
    const std::string address = json.at("addresses").at(0).get<std::string>();
    port_ = std::stoi(address.substr(address.rfind(':') + 1));
    const std::string link = json.value("login", "");
    if (const std::size_t at = link.find("#login="); at != std::string::npos) {
        login_ = link.substr(at + 7);
    }
}

ServerProcess::~ServerProcess() {
    if (pid_ > 0) kill(pid_, SIGKILL);
    stop();
}

bool ServerProcess::stop() {
    if (pid_ <= 0) return false;
    kill(pid_, SIGTERM);
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = -1;
    if (reader_.joinable()) reader_.join();
    ::close(output_);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace ebb::bench
