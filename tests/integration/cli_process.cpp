#include "cli_process.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ebb_test_dirs.h"

namespace ebb::cli::testing {

namespace {

/// Far above what anything here takes: a test that hangs fails instead of blocking all others.
constexpr int kPatienceMilliseconds = 60'000;

[[noreturn]] void become(
    const std::string& directory, const std::vector<std::string>& args, const std::string& db
) {
    std::vector<std::string> words{EBB_BINARY_DIR "/ebb"};
    words.insert(words.end(), args.begin(), args.end());
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    setenv("EBB_DB", db.c_str(), 1);
    setenv("LANG", "C.UTF-8", 1);
    unsetenv("LC_ALL");
    if (chdir(directory.c_str()) == 0) execv(argv[0], argv.data());
    _exit(127);
}

}  // namespace

CliProcess::CliProcess(
    const std::string& directory, const std::vector<std::string>& args, const std::string& db
) {
    std::array<std::array<int, 2>, 2> ends{};
    for (auto& pair : ends) {
        if (pipe2(pair.data(), O_CLOEXEC) != 0) throw_errno("pipe2");
    }
    pid_ = fork();
    if (pid_ < 0) throw_errno("fork");
    if (pid_ == 0) {
        dup2(ends[0][1], STDOUT_FILENO);
        dup2(ends[1][1], STDERR_FILENO);
        become(directory, args, db);
    }
    for (std::size_t i = 0; i < 2; ++i) {
        close(ends[i][1]);
        pipes_[i] = ends[i][0];
    }
}

CliProcess::~CliProcess() {
    if (!is_reaped_) {
        kill(pid_, SIGKILL);
        wait();
    }
}

bool CliProcess::read_some() {
    std::array<pollfd, 2> wanted{
        pollfd{.fd = pipes_[0], .events = POLLIN}, pollfd{.fd = pipes_[1], .events = POLLIN}
    };
    if (pipes_[0] < 0 && pipes_[1] < 0) return false;
    if (poll(wanted.data(), wanted.size(), kPatienceMilliseconds) <= 0) {
        kill(pid_, SIGKILL);
        throw std::runtime_error("the command hangs; it has said: " + out() + err());
    }
    for (std::size_t i = 0; i < 2; ++i) {
        if (wanted[i].revents == 0) continue;
        std::array<char, 4'096> buffer{};
        const ssize_t got = read(pipes_[i], buffer.data(), buffer.size());
        if (got > 0) {
            texts_[i].append(buffer.data(), static_cast<std::size_t>(got));
        } else {
            close(pipes_[i]);
            pipes_[i] = -1;
        }
    }
    return true;
}

bool CliProcess::wait_for(std::string_view text) {
    while (out().find(text) == std::string::npos && err().find(text) == std::string::npos) {
        if (!read_some()) return false;
    }
    return true;
}

bool CliProcess::wait_for_lines(std::size_t count) {
    const auto lines = [this] {
        return static_cast<std::size_t>(std::count(err().begin(), err().end(), '\n'));
    };
    while (lines() < count) {
        if (!read_some()) return false;
    }
    return true;
}

void CliProcess::signal(int number) const {
    kill(pid_, number);
}

int CliProcess::wait() {
    while (read_some()) {
    }
    if (is_reaped_) return code_;
    int status = 0;
    waitpid(pid_, &status, 0);
    is_reaped_ = true;
    code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return code_;
}

}  // namespace ebb::cli::testing
