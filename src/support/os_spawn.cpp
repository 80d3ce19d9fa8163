#include "support/os_spawn.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ebb {

namespace {

constexpr int kFirstInherited = 3;

/// The descriptor under a number that no dup2 to 0, 1 or 2 overwrites: this process may run with
/// those closed.
FileDescriptor above_standard(FileDescriptor file) {
    if (!file.is_open() || file.get() >= kFirstInherited) return file;
    FileDescriptor moved(::fcntl(file.get(), F_DUPFD_CLOEXEC, kFirstInherited));
    if (!moved.is_open()) throw_errno("cannot duplicate a file descriptor");
    return moved;
}

struct Pipe {
    FileDescriptor read;
    FileDescriptor write;
};

Pipe make_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno("cannot make a pipe");
    Pipe pipe{FileDescriptor(ends[0]), FileDescriptor(ends[1])};
    if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) throw_errno("cannot make a pipe non-blocking");
    pipe.read = above_standard(std::move(pipe.read));
    pipe.write = above_standard(std::move(pipe.write));
    return pipe;
}

FileDescriptor make_input(std::string_view text) {
    // A file in memory needs no thread to feed it, cannot deadlock with the output and raises no
    // SIGPIPE.
    FileDescriptor file = above_standard(FileDescriptor(::memfd_create("ebb-input", MFD_CLOEXEC)));
    if (!file.is_open()) throw_errno("cannot make the program's stdin");
    write_all(file, text);
    if (::lseek(file.get(), 0, SEEK_SET) != 0) throw_errno("cannot rewind the program's stdin");
    return file;
}

void check(int error, const char* what) {
    if (error != 0) throw std::system_error(error, std::generic_category(), what);
}

class FileActions {
 public:
    FileActions() { check(::posix_spawn_file_actions_init(&actions_), "cannot prepare a process"); }

    FileActions(const FileActions&) = delete;
    FileActions& operator=(const FileActions&) = delete;

    ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }

    posix_spawn_file_actions_t* get() { return &actions_; }

    void duplicate(const FileDescriptor& from, int to) {
        check(
            ::posix_spawn_file_actions_adddup2(&actions_, from.get(), to),
            "cannot prepare a process"
        );
    }

    void change_directory(const std::string& to) {
        check(
            ::posix_spawn_file_actions_addchdir_np(&actions_, to.c_str()),
            "cannot prepare a process"
        );
    }

    void close_from(int first) {
        check(
            ::posix_spawn_file_actions_addclosefrom_np(&actions_, first), "cannot prepare a process"
        );
    }

 private:
    posix_spawn_file_actions_t actions_;
};

class Attributes {
 public:
    Attributes() {
        check(::posix_spawnattr_init(&attributes_), "cannot prepare a process");
        sigset_t none;
        sigset_t defaulted;
        ::sigemptyset(&none);
        ::sigemptyset(&defaulted);
        // Programs are written for these defaults, but a server often ignores SIGPIPE, and exec
        // keeps what is ignored.
        for (const int signal :
             {SIGPIPE, SIGINT, SIGQUIT, SIGHUP, SIGTERM, SIGCHLD, SIGUSR1, SIGUSR2}) {
            ::sigaddset(&defaulted, signal);
        }
        ::posix_spawnattr_setsigmask(&attributes_, &none);
        ::posix_spawnattr_setsigdefault(&attributes_, &defaulted);
        ::posix_spawnattr_setpgroup(&attributes_, 0);
        ::posix_spawnattr_setflags(
            &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
        );
    }

    Attributes(const Attributes&) = delete;
    Attributes& operator=(const Attributes&) = delete;

    ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }

    const posix_spawnattr_t* get() const { return &attributes_; }

 private:
    posix_spawnattr_t attributes_;
};

/// The program's path, found as a shell would find it, but in the PATH that the program itself will
/// see.
std::string find_program(const ProcessRequest& request) {
    const std::string& program = request.arguments.front();
    if (program.find('/') != std::string::npos) return program;
    const auto found = request.environment.find("PATH");
    std::string_view rest =
        found == request.environment.end() ? "" : std::string_view(found->second);
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find(':'), rest.size());
        const std::filesystem::path candidate =
            std::filesystem::path(rest.substr(0, end)) / program;
        std::error_code ignored;
        if (end > 0 && ::access(candidate.c_str(), X_OK) == 0 &&
            !std::filesystem::is_directory(candidate, ignored)) {
            return candidate.string();
        }
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    throw ProcessNotStarted(fmt::format("The program \"{}\" was not found in PATH.", program));
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

std::string explain(const ProcessRequest& request, int error) {
    std::error_code ignored;
    const auto& directory = request.working_directory;
    if (!directory.empty() && !std::filesystem::is_directory(directory, ignored)) {
        return fmt::format(
            "The program \"{}\" was not started: its working directory \"{}\" does not exist.",
            request.arguments.front(),
            directory.string()
        );
    }
    return fmt::format(
        "The program \"{}\" was not started: {}.",
        request.arguments.front(),
        std::generic_category().message(error)
    );
}

FileDescriptor open_handle(pid_t pid) {
    FileDescriptor handle = open_process(pid);
    // ESRCH: this process ignores SIGCHLD and the child is gone already; then nobody knows its
    // status.
    if (handle.is_open() || errno == ESRCH) return handle;
    const std::system_error error(errno, std::generic_category(), "it cannot be watched");
    ::kill(-pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    throw error;
}

Child spawn_with(const ProcessRequest& request, const std::string& program) {
    const FileDescriptor input = make_input(request.input);
    Pipe output = make_pipe();
    Pipe errors = make_pipe();

    FileActions actions;
    actions.duplicate(input, STDIN_FILENO);
    actions.duplicate(output.write, STDOUT_FILENO);
    actions.duplicate(errors.write, STDERR_FILENO);
    if (!request.working_directory.empty()) {
        actions.change_directory(request.working_directory.string());
    }
    actions.close_from(kFirstInherited);

    std::vector<std::string> arguments = request.arguments;
    std::vector<std::string> environment;
    for (const auto& [name, value] : request.environment) environment.push_back(name + '=' + value);
    const Attributes attributes;
    Child child;
    const int error = ::posix_spawn(
        &child.pid,
        program.c_str(),
        actions.get(),
        attributes.get(),
        pointers_to(arguments).data(),
        pointers_to(environment).data()
    );
    if (error != 0) throw ProcessNotStarted(explain(request, error));
    child.handle = open_handle(child.pid);
    child.output = std::move(output.read);
    child.errors = std::move(errors.read);
    return child;
}

}  // namespace

FileDescriptor open_process(pid_t pid) {
    // glibc 2.36 declares pidfd_open() without C linkage.
    return FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

Child spawn(const ProcessRequest& request) {
    if (request.arguments.empty()) throw ProcessNotStarted("No program was given.");
    try {
        return spawn_with(request, find_program(request));
    } catch (const std::system_error& error) {
        throw ProcessNotStarted(fmt::format(
            "The program \"{}\" was not started: {}.", request.arguments.front(), error.what()
        ));
    }
}

}  // namespace ebb
