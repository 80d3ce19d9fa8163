// Goal: a program is run within its bounds, whatever it does, and leaves nothing behind.
// Method: real processes, most of them small shell scripts. Processes of other generations are
// watched through pidfds.
#include <cerrno>
#include <csignal>
#include <fstream>
#include <new>
#include <thread>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/os_file.h"
#include "support/os_process.h"
#include "support/os_spawn.h"

namespace ebb {
namespace {

using namespace std::chrono_literals;
using End = ProcessResult::End;

ProcessRequest shell(const std::string& script) {
    return {
        .arguments = {"/bin/sh", "-c", script},
        .environment = {{"PATH", "/usr/bin:/bin"}},
        .timeout = 60s,
    };
}

std::size_t count_open_files() {
    std::size_t count = 0;
    DIR* directory = ::opendir("/proc/self/fd");
    while (::readdir(directory) != nullptr) ++count;
    ::closedir(directory);
    return count;
}

/// Waits for the death of a process that is not our child.
void expect_dead(const std::string& pid_text) {
    ASSERT_FALSE(pid_text.empty());
    const pid_t pid = std::stoi(pid_text);
    const FileDescriptor handle = open_process(pid);
    if (!handle.is_open()) return;
    pollfd watched{handle.get(), POLLIN, 0};
    EXPECT_EQ(::poll(&watched, 1, 20'000), 1) << "process " << pid << " is still alive";
}

TEST(Process, gives_output_errors_and_exit_code) {
    ProcessRequest request = shell("cat; echo oops >&2; exit 3");
    request.input = "hello";
    const ProcessResult result = run_process(request);
    EXPECT_EQ(result.end, End::Exited);
    EXPECT_EQ(result.exit_code, 3);
    EXPECT_EQ(result.signal, 0);
    EXPECT_EQ(result.output, "hello");
    EXPECT_EQ(result.errors.text(), "oops\n");
}

TEST(Process, reports_the_signal_that_ended_it) {
    const ProcessResult result = run_process(shell("kill -SEGV $$"));
    EXPECT_EQ(result.end, End::Signalled);
    EXPECT_EQ(result.signal, SIGSEGV);
}

TEST(Process, finds_programs_in_the_path_that_the_child_will_see) {
    const TempDirectory directory;
    std::filesystem::create_symlink("/bin/echo", directory.path() / "say");
    ProcessRequest request{.arguments = {"say", "hi"}};
    request.environment = {{"PATH", "/nowhere::" + directory.path().string()}};
    EXPECT_EQ(run_process(request).output, "hi\n");
    request.environment = {{"PATH", "/usr/bin:/bin"}};
    EXPECT_THROW(run_process(request), ProcessNotStarted);
    request.environment.clear();
    EXPECT_THROW(run_process(request), ProcessNotStarted);
}

std::string error_of(const ProcessRequest& request) {
    try {
        run_process(request);
    } catch (const ProcessNotStarted& error) {
        return error.what();
    }
    return "it was started";
}

TEST(Process, says_why_it_was_not_started) {
    EXPECT_EQ(error_of({}), "No program was given.");
    EXPECT_EQ(
        error_of({.arguments = {"no-such-program"}, .environment = {{"PATH", "/bin"}}}),
        "The program \"no-such-program\" was not found in PATH."
    );
    EXPECT_EQ(
        error_of({.arguments = {"/no/such/program"}}),
        "The program \"/no/such/program\" was not started: No such file or directory."
    );
    EXPECT_EQ(
        error_of({.arguments = {"/etc/passwd"}}),
        "The program \"/etc/passwd\" was not started: Permission denied."
    );
    EXPECT_EQ(
        error_of({.arguments = {"/bin/sh"}, .working_directory = "/no/such/directory"}),
        "The program \"/bin/sh\" was not started: its working directory \"/no/such/directory\" "
        "does not exist."
    );
    EXPECT_EQ(
        error_of({.arguments = {"/bin/true", std::string(1'000'000, 'x')}}),
        "The program \"/bin/true\" was not started: Argument list too long."
    );
}

TEST(Process, runs_in_its_working_directory) {
    const TempDirectory directory;
    ProcessRequest request = shell("pwd -P");
    request.working_directory = directory.path();
    EXPECT_EQ(
        run_process(request).output, std::filesystem::canonical(directory.path()).string() + "\n"
    );
}

TEST(Process, inherits_no_environment) {
    ASSERT_EQ(::setenv("EBB_TEST_SECRET", "leaked", 1), 0);
    ProcessRequest request{.arguments = {"/usr/bin/env"}};
    request.environment = {{"A", "1"}, {"B", "two words"}};
    EXPECT_EQ(run_process(request).output, "A=1\nB=two words\n");
    ::unsetenv("EBB_TEST_SECRET");
}

TEST(Process, inherits_no_file_descriptor) {
    const FileDescriptor inheritable(::open("/dev/null", O_RDONLY));
    ASSERT_TRUE(inheritable.is_open());
    ProcessRequest request{.arguments = {"/bin/ls", "/proc/self/fd"}};
    // 3 is what ls itself opened to read the directory.
    EXPECT_EQ(run_process(request).output, "0\n1\n2\n3\n");
}

TEST(Process, inherits_no_ignored_or_blocked_signal) {
    const auto before = ::signal(SIGPIPE, SIG_IGN);
    sigset_t blocked;
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, SIGTERM);
    sigset_t mask_before;
    ::pthread_sigmask(SIG_BLOCK, &blocked, &mask_before);
    const ProcessResult result =
        run_process(shell("sed -n 's/^Sig[BI][lg][kn]:.//p' /proc/self/status"));
    ::pthread_sigmask(SIG_SETMASK, &mask_before, nullptr);
    ::signal(SIGPIPE, before);
    const std::uint64_t blocked_there = std::stoull(result.output, nullptr, 16);
    const std::uint64_t ignored_there = std::stoull(result.output.substr(17), nullptr, 16);
    EXPECT_EQ(blocked_there, 0U);
    // Two signals above 31 belong to glibc, which ignores them in every child.
    EXPECT_EQ(ignored_there & 0x7fffffff, 0U);
}

TEST(Process, need_not_read_its_input) {
    const std::string input(8'000'000, 'x');
    ProcessRequest request = shell("exit 0");
    request.input = input;
    EXPECT_EQ(run_process(request).exit_code, 0);
    request = shell("head -c 3");
    request.input = input;
    EXPECT_EQ(run_process(request).output, "xxx");
}

TEST(Process, does_not_deadlock_when_much_goes_in_and_out_at_once) {
    const std::string input(3'000'000, 'x');
    ProcessRequest request = shell("cat; head -c 3000000 /dev/zero >&2");
    request.input = input;
    request.output_bytes_max = input.size();
    const ProcessResult result = run_process(request);
    EXPECT_EQ(result.end, End::Exited);
    EXPECT_EQ(result.output, input);
    EXPECT_THAT(result.errors.text(), ::testing::HasSubstr("bytes left out"));
}

TEST(Process, keeps_binary_output_as_it_is) {
    const ProcessResult result = run_process(shell("printf 'a\\000\\377b'"));
    EXPECT_EQ(
        result.output,
        std::string(
            "a\0\xff"
            "b",
            4
        )
    );
}

TEST(Process, may_write_as_much_as_allowed_and_is_ended_one_byte_above) {
    ProcessRequest request = shell("head -c 100000 /dev/zero");
    request.output_bytes_max = 100'000;
    ProcessResult result = run_process(request);
    EXPECT_EQ(result.end, End::Exited);
    EXPECT_EQ(result.output.size(), 100'000U);
    request.output_bytes_max = 99'999;
    result = run_process(request);
    EXPECT_EQ(result.end, End::OutputTooLarge);
    EXPECT_EQ(result.output.size(), 99'999U);
}

TEST(Process, that_writes_without_end_is_ended) {
    EXPECT_EQ(run_process(shell("yes")).end, End::OutputTooLarge);
}

TEST(Process, keeps_head_and_tail_of_long_errors) {
    ProcessRequest request =
        shell("printf 'first%.0s' 1; head -c 50000 /dev/zero | tr '\\0' x; printf last");
    request.arguments[2] = "{ " + request.arguments[2] + "; } >&2";
    request.errors_bytes_max = 1'000;
    const std::string errors = run_process(request).errors.text();
    EXPECT_TRUE(errors.starts_with("firstxxx")) << errors;
    EXPECT_TRUE(errors.ends_with("xxxlast")) << errors;
    EXPECT_THAT(errors, ::testing::HasSubstr("\n[... 49009 bytes left out ...]\n"));
    EXPECT_LT(errors.size(), 1'100U);
}

TEST(Process, keeps_errors_whole_at_the_limit_and_cuts_one_above) {
    ProcessRequest request = shell("printf 1234567890 >&2");
    request.errors_bytes_max = 10;
    EXPECT_EQ(run_process(request).errors.text(), "1234567890");
    request = shell("printf 1234567890A >&2");
    request.errors_bytes_max = 10;
    EXPECT_EQ(run_process(request).errors.text(), "12345\n[... 1 bytes left out ...]\n7890A");
}

/// Runs a script and stops it once it has written to the file $READY.
ProcessResult run_and_stop_when_ready(const std::string& script, Duration grace) {
    const TempDirectory directory;
    const std::string ready = (directory.path() / "ready").string();
    EXPECT_EQ(::mkfifo(ready.c_str(), 0600), 0);
    std::stop_source source;
    std::jthread stopper([&] {
        const FileDescriptor reader(::open(ready.c_str(), O_RDONLY));
        source.request_stop();
    });
    ProcessRequest request = shell(script);
    request.environment["READY"] = ready;
    request.grace = grace;
    request.stop = source.get_token();
    ProcessResult result = run_process(request);
    // Lets the stopper go if the script has never been ready.
    const FileDescriptor writer(::open(ready.c_str(), O_RDWR | O_NONBLOCK));
    stopper.join();
    return result;
}

TEST(Process, that_takes_too_long_is_ended) {
    ProcessRequest request = shell("exec sleep 1000");
    request.timeout = 100ms;
    const ProcessResult result = run_process(request);
    EXPECT_EQ(result.end, End::TimedOut);
    EXPECT_EQ(result.signal, SIGTERM);
}

TEST(Process, is_asked_to_end_and_may_do_so_in_order) {
    const ProcessResult result = run_and_stop_when_ready(
        "trap 'echo bye; exit 9' TERM; sleep 1000 & : > \"$READY\"; wait", 60s
    );
    EXPECT_EQ(result.end, End::Stopped);
    EXPECT_EQ(result.exit_code, 9);
    EXPECT_EQ(result.output, "bye\n");
}

// The grandchild ignores SIGTERM and holds stdout open.
constexpr const char* kStubbornGrandchild =
    "sh -c 'trap \"\" TERM; echo $$; : > \"$READY\"; while :; do sleep 1; done' & ";

TEST(Process, that_does_not_end_when_asked_is_killed_with_its_whole_group) {
    const ProcessResult result = run_and_stop_when_ready(
        std::string("trap '' TERM; ") + kStubbornGrandchild + "while :; do sleep 1; done", 200ms
    );
    EXPECT_EQ(result.end, End::Stopped);
    EXPECT_EQ(result.signal, SIGKILL);
    expect_dead(result.output);
}

TEST(Process, leaves_no_grandchild_when_only_the_child_obeys) {
    const ProcessResult result =
        run_and_stop_when_ready(std::string(kStubbornGrandchild) + "wait", 200ms);
    EXPECT_EQ(result.end, End::Stopped);
    EXPECT_EQ(result.signal, SIGTERM);
    expect_dead(result.output);
}

TEST(Process, a_timeout_kills_the_whole_group) {
    ProcessRequest request =
        shell("trap '' TERM; sh -c 'echo $$; while :; do sleep 1; done' & while :; do sleep 1; done"
        );
    request.timeout = 1s;
    request.grace = 100ms;
    const ProcessResult result = run_process(request);
    EXPECT_EQ(result.end, End::TimedOut);
    expect_dead(result.output);
}

TEST(Process, that_ends_takes_what_it_left_behind_with_it) {
    // The first grandchild keeps stdout open, the second does not.
    const ProcessResult result =
        run_process(shell("sleep 1000 & echo $!; sleep 1000 >/dev/null 2>&1 & echo $!; exit 4"));
    EXPECT_EQ(result.end, End::Exited);
    EXPECT_EQ(result.exit_code, 4);
    const std::size_t newline = result.output.find('\n');
    ASSERT_NE(newline, std::string::npos);
    expect_dead(result.output.substr(0, newline));
    expect_dead(result.output.substr(newline + 1));
}

TEST(Process, output_of_a_background_process_that_ends_soon_is_kept) {
    EXPECT_EQ(run_process(shell("(sleep 0.1; echo late) & echo early")).output, "early\nlate\n");
}

TEST(Process, is_ended_by_the_stop_token) {
    // The pipe is opened by the program: only when it runs, it is stopped.
    const TempDirectory directory;
    const std::filesystem::path pipe = directory.path() / "running";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    std::stop_source source;
    ProcessRequest request = shell("echo > running; exec sleep 1000");
    request.working_directory = directory.path();
    request.stop = source.get_token();
    std::jthread stopper([&source, &pipe] {
        // A pipe that nothing reads would end the shell before the stop does.
        std::ifstream opened(pipe);
        std::string line;
        std::getline(opened, line);
        source.request_stop();
    });
    const ProcessResult result = run_process(request);
    EXPECT_EQ(result.end, End::Stopped);
    EXPECT_EQ(result.signal, SIGTERM);
}

TEST(Process, is_not_started_when_the_stop_came_before) {
    const TempDirectory directory;
    std::stop_source source;
    source.request_stop();
    ProcessRequest request = shell("echo > started");
    request.working_directory = directory.path();
    request.stop = source.get_token();
    EXPECT_EQ(run_process(request).end, End::Stopped);
    EXPECT_FALSE(std::filesystem::exists(directory.path() / "started"));
}

TEST(Process, that_is_suspended_can_still_be_ended) {
    ProcessRequest request = shell("kill -STOP $$; sleep 1000");
    request.timeout = 200ms;
    request.grace = 60s;
    EXPECT_EQ(run_process(request).end, End::TimedOut);
}

TEST(Process, runs_many_at_once_without_mixing_or_leaking) {
    const std::size_t files_before = count_open_files();
    constexpr int kThreads = 50;
    std::vector<std::string> outputs(kThreads);
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < kThreads; ++i) {
            threads.emplace_back([&output = outputs[static_cast<std::size_t>(i)], i] {
                ProcessRequest request = shell("cat; ls /proc/self/fd | wc -l");
                const std::string input = std::to_string(i) + " ";
                request.input = input;
                output = run_process(request).output;
            });
        }
    }
    for (int i = 0; i < kThreads; ++i) {
        EXPECT_EQ(outputs[static_cast<std::size_t>(i)], std::to_string(i) + " 4\n");
    }
    EXPECT_EQ(count_open_files(), files_before);
    // No child is left, neither alive nor as a zombie.
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
}

// UBSan itself needs file descriptors to check the type of an exception.
#ifndef __SANITIZE_ADDRESS__
TEST(Process, fails_when_no_file_descriptor_is_left_and_leaks_none) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit tight{.rlim_cur = 64, .rlim_max = before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &tight), 0);
    std::vector<FileDescriptor> hoard;
    while (true) {
        FileDescriptor file(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
        if (!file.is_open()) break;
        hoard.push_back(std::move(file));
    }
    ASSERT_GT(hoard.size(), 6U);
    // With ever more room, the shortage shows at ever later places.
    for (int room = 0; room < 6; ++room) {
        EXPECT_THAT(error_of(shell("exit 0")), ::testing::HasSubstr("was not started")) << room;
        hoard.pop_back();
    }
    hoard.clear();
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(run_process(shell("exit 0")).exit_code, 0);
}
#endif

TEST(Process, is_lost_when_this_process_ignores_the_end_of_children) {
    const auto before = ::signal(SIGCHLD, SIG_IGN);
    const ProcessResult result = run_process(shell("echo done"));
    ::signal(SIGCHLD, before);
    EXPECT_EQ(result.end, End::Lost);
    EXPECT_EQ(result.output, "done\n");
}

TEST(Process, dies_with_the_process_that_started_it) {
    int pipe[2];
    ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
    const pid_t worker = ::fork();
    if (worker == 0) {
        const Child child = spawn(shell("exec sleep 1000"));
        ::write(pipe[1], &child.pid, sizeof child.pid);
        ::kill(::getpid(), SIGKILL);
    }
    pid_t pid = -1;
    ASSERT_EQ(::read(pipe[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
    EXPECT_EQ(::waitpid(worker, nullptr, 0), worker);
    expect_dead(std::to_string(pid));
    ::close(pipe[0]);
    ::close(pipe[1]);
}

TEST(ProcessDeathTest, works_when_this_process_has_closed_its_own_standard_files) {
    testing::GTEST_FLAG(death_test_style) = "threadsafe";
    EXPECT_EXIT(
        {
            ::close(STDIN_FILENO);
            ::close(STDOUT_FILENO);
            ProcessRequest request = shell("cat; echo; exit 7");
            request.input = "in";
            const ProcessResult result = run_process(request);
            ::_exit(result.output == "in\n" && result.exit_code == 7 ? 0 : 1);
        },
        testing::ExitedWithCode(0),
        ""
    );
}

TEST(TempDirectory, is_private_and_goes_with_its_owner) {
    std::filesystem::path path;
    {
        const TempDirectory directory;
        path = directory.path();
        const auto file = directory.add("input.json", "{}");
        EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms(0700));
        EXPECT_EQ(std::filesystem::status(file).permissions(), std::filesystem::perms(0600));
        std::string content;
        std::ifstream(file) >> content;
        EXPECT_EQ(content, "{}");
        EXPECT_THROW(directory.add("input.json", "again"), std::system_error);
        std::filesystem::create_directories(path / "a" / "b");
    }
    EXPECT_FALSE(std::filesystem::exists(path));
}

// A sanitizer reserves more addresses than this limit allows.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

/// Runs a program that writes more than memory holds. 0: the call has failed and no child is left.
int run_out_of_memory() {
    rlimit limit{};
    ::getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = rlim_t{1} << 29;
    ::setrlimit(RLIMIT_AS, &limit);
    ProcessRequest request;
    request.arguments = {"/bin/cat", "/dev/zero"};
    request.output_bytes_max = std::size_t{1} << 40;
    try {
        run_process(request);
    } catch (const std::bad_alloc&) {
        return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD ? 0 : 1;
    }
    return 2;
}

TEST(ProcessDeathTest, an_exception_leaves_neither_a_program_nor_a_zombie) {
    EXPECT_EXIT(::_exit(run_out_of_memory()), testing::ExitedWithCode(0), "");
}

#endif

}  // namespace
}  // namespace ebb
