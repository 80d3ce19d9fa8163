#include "support/os_spawn.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ebb {

namespace {

constexpr int kFirstInherited = 3;
constexpr int kFailure = kFirstInherited;
constexpr int kNotStarted = 127;  // as the exit code; it is never shown

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
    pipe.read = above_standard(std::move(pipe.read));
    pipe.write = above_standard(std::move(pipe.write));
    return pipe;
}

void do_not_block(const FileDescriptor& file) {
    if (::fcntl(file.get(), F_SETFL, O_NONBLOCK) != 0) {
        throw_errno("cannot make a pipe non-blocking");
    }
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

/// What the child needs on its way to become the program. Made by the parent, since the child may
/// not even allocate.
struct Launch {
    const char* program;
    char* const* arguments;
    char* const* environment;
    const char* directory;  ///< empty = the parent's
    int input;
    int output;
    int errors;
    int failure;  ///< a pipe that exec closes: errno of the child's first failure comes through it
    pid_t parent;
};

/// Programs are written for the defaults, but a server often ignores SIGPIPE, exec keeps what is
/// ignored, and the parent's handlers may not run in the child.
bool reset_signals() noexcept {
    struct sigaction standard{};
    standard.sa_handler = SIG_DFL;
    // Fails for SIGKILL, SIGSTOP and those of the C library, which need none.
    for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &standard, nullptr);
    sigset_t none;
    ::sigemptyset(&none);
    return ::sigprocmask(SIG_SETMASK, &none, nullptr) == 0;
}

/// A worker that is killed takes its programs with it, because another worker starts their work
/// again.
bool die_with(pid_t parent) noexcept {
    if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return false;
    // The parent may have died before.
    errno = ESRCH;
    return ::getppid() == parent;
}

bool take_files(Launch& launch) noexcept {
    if (::dup2(launch.input, STDIN_FILENO) < 0) return false;
    if (::dup2(launch.output, STDOUT_FILENO) < 0) return false;
    if (::dup2(launch.errors, STDERR_FILENO) < 0) return false;
    if (launch.failure != kFailure) {
        if (::dup3(launch.failure, kFailure, O_CLOEXEC) < 0) return false;
        launch.failure = kFailure;
    }
    ::closefrom(kFailure + 1);
    return true;
}

/// The child's own life. It shares the parent's memory until exec: system calls only.
[[noreturn]] void become_program(Launch launch) noexcept {
    if (die_with(launch.parent) && ::setpgid(0, 0) == 0 && take_files(launch) &&
        (launch.directory[0] == '\0' || ::chdir(launch.directory) == 0) && reset_signals()) {
        ::execve(launch.program, launch.arguments, launch.environment);
    }
    const int error = errno;
    [[maybe_unused]] const ssize_t written = ::write(launch.failure, &error, sizeof error);
    ::_exit(kNotStarted);
}

/// The child's pid; -1 and errno when there is none. posix_spawn() cannot ask for the death signal.
/// As it does, this lends the memory, which costs nothing however large the parent is, and the
/// calling thread stands still meanwhile.
pid_t make_child(const Launch& launch) {
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    // No handler of the parent may run in the child.
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t pid = ::vfork();  // NOLINT(clang-analyzer-security.insecureAPI.vfork)
    if (pid == 0) become_program(launch);
    const int error = errno;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    errno = error;
    return pid;
}

/// What the child has reported; 0 when it has become the program. Waits for either, for under
/// ThreadSanitizer vfork() is fork().
int read_failure(const FileDescriptor& pipe) {
    int error = 0;
    ssize_t count = 0;
    do {
        count = ::read(pipe.get(), &error, sizeof error);
    } while (count < 0 && errno == EINTR);
    return count > 0 ? error : 0;
}

/// The child's pid once it has become the program. Throws std::system_error.
pid_t start(Launch launch) {
    Pipe failure = make_pipe();
    launch.failure = failure.write.get();
    const pid_t pid = make_child(launch);
    if (pid < 0) throw_errno("cannot make a process");
    failure.write.reset();
    const int error = read_failure(failure.read);
    if (error == 0) return pid;
    ::waitpid(pid, nullptr, 0);
    throw std::system_error(error, std::generic_category());
}

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
    // ESRCH: this process ignores SIGCHLD and the child is already gone; then its
    // status is unknown.
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
    do_not_block(output.read);
    do_not_block(errors.read);

    std::vector<std::string> arguments = request.arguments;
    std::vector<std::string> environment;
    for (const auto& [name, value] : request.environment) environment.push_back(name + '=' + value);
    const std::vector<char*> argument_pointers = pointers_to(arguments);
    const std::vector<char*> environment_pointers = pointers_to(environment);
    const Launch launch{
        .program = program.c_str(),
        .arguments = argument_pointers.data(),
        .environment = environment_pointers.data(),
        .directory = request.working_directory.c_str(),
        .input = input.get(),
        .output = output.write.get(),
        .errors = errors.write.get(),
        .failure = -1,
        .parent = ::getpid(),
    };
    Child child;
    try {
        child.pid = start(launch);
    } catch (const std::system_error& error) {
        throw ProcessNotStarted(explain(request, error.code().value()));
    }
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
