#include "support/postgres_server.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <libpq-fe.h>
#include <poll.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace ebb::testing {

namespace {

constexpr int kReadyTriesMax = 3'000;
constexpr int kReadyPauseMs = 10;

/// Whom the server runs as: PostgreSQL refuses to be root.
const passwd* unprivileged_user() {
    if (geteuid() != 0) return nullptr;
    const passwd* user = getpwnam("postgres");
    if (user == nullptr) throw std::runtime_error("We are root, and there is no user postgres.");
    return user;
}

/// Runs a program of PostgreSQL's. `dies_with_us`: it is asked to end when this process ends.
pid_t spawn(
    const std::vector<std::string>& command, const std::filesystem::path& log, bool dies_with_us
) {
    std::vector<char*> arguments;
    for (const std::string& part : command) arguments.push_back(const_cast<char*>(part.c_str()));
    arguments.push_back(nullptr);
    const passwd* user = unprivileged_user();
    const pid_t parent = getpid();
    const pid_t pid = fork();
    if (pid != 0) return pid;
    // A group of its own, so that Ctrl-C ends us first, and kill() all of it.
    setpgid(0, 0);
    if (user != nullptr &&
        (setgroups(0, nullptr) != 0 || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0)) {
        _exit(127);
    }
    if (dies_with_us) prctl(PR_SET_PDEATHSIG, SIGQUIT);
    if (dies_with_us && getppid() != parent) _exit(127);
    const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    const int input = open("/dev/null", O_RDONLY);
    if (output < 0 || input < 0 || chdir(log.parent_path().c_str()) != 0) _exit(127);
    dup2(input, 0);
    dup2(output, 1);
    dup2(output, 2);
    execv(arguments[0], arguments.data());
    _exit(127);
}

/// Waits for its end.
int reap(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

int free_port() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
    auto* const plain = reinterpret_cast<sockaddr*>(&address);
    const bool is_free = bind(socket, plain, size) == 0 && getsockname(socket, plain, &size) == 0;
    close(socket);
    if (!is_free) throw std::runtime_error("no port is free");
    return ntohs(address.sin_port);
}

std::string read_log(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

}  // namespace

std::filesystem::path PostgresServer::program(std::string_view name) {
    if (const char* folder = std::getenv("EBB_TEST_POSTGRES_BIN"); folder != nullptr) {
        const std::filesystem::path path = std::filesystem::path(folder) / name;
        if (std::filesystem::exists(path)) return path;
    }
    // The newest of those that Debian keeps side by side, or what is in PATH.
    std::vector<std::filesystem::path> found;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql", ignored)) {
        const std::filesystem::path path = entry.path() / "bin" / name;
        if (std::filesystem::exists(path)) found.push_back(path);
    }
    if (!found.empty()) return *std::max_element(found.begin(), found.end());
    std::istringstream folders(std::getenv("PATH") != nullptr ? std::getenv("PATH") : "");
    for (std::string folder; std::getline(folders, folder, ':');) {
        const std::filesystem::path path = std::filesystem::path(folder) / name;
        if (std::filesystem::exists(path)) return path;
    }
    throw std::runtime_error(fmt::format("PostgreSQL's program {} is not installed.", name));
}

PostgresServer::PostgresServer(
    Durability durability, std::vector<std::string> settings, Reach reach
)
    : settings_(std::move(settings)) {
    if (reach == Reach::Tcp) {
        port_ = free_port();
        settings_.emplace_back("listen_addresses=127.0.0.1");
        settings_.push_back(fmt::format("port={}", port_));
    }
    if (durability == Durability::None) {
        for (const char* setting : {"fsync=off", "full_page_writes=off"}) {
            settings_.insert(settings_.begin(), setting);
        }
    }
    std::string name = (std::filesystem::temp_directory_path() / "ebb-pg-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    folder_ = name;
    try {
        make();
        start();
    } catch (...) {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
        throw;
    }
}

PostgresServer::~PostgresServer() {
    kill();
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
}

void PostgresServer::give(const std::filesystem::path& file) {
    std::filesystem::permissions(
        file,
        std::filesystem::perms::group_all | std::filesystem::perms::others_all,
        std::filesystem::perm_options::remove
    );
    const passwd* user = unprivileged_user();
    if (user != nullptr && chown(file.c_str(), user->pw_uid, user->pw_gid) != 0) {
        throw std::runtime_error("chown failed");
    }
}

void PostgresServer::make() {
    give(folder_);
    const pid_t pid = spawn(
        {program("initdb"),
         "-D",
         folder_ / "data",
         "-A",
         "trust",
         "-U",
         "ebb",
         "-E",
         "UTF8",
         "--locale=C.UTF-8",
         "--no-sync"},
        folder_ / "log",
        true
    );
    if (reap(pid) != 0) throw std::runtime_error("initdb failed: " + read_log(folder_ / "log"));
    // Users whose names begin with secret_ need their password; all others are let in.
    const std::filesystem::path rules = folder_ / "data" / "pg_hba.conf";
    const std::string others = read_log(rules);
    std::ofstream(rules) << "local all +secret scram-sha-256\n" << others;
}

void PostgresServer::start() {
    std::vector<std::string> command{
        program("postgres"),
        "-D",
        folder_ / "data",
        "-k",
        folder_,
        "-c",
        "listen_addresses=",
        "-c",
        "max_connections=200",
        "-c",
        "password_encryption=scram-sha-256",  // not the default before PostgreSQL 14
        "-c",
        "unix_socket_permissions=0777",
    };
    for (const std::string& setting : settings_) {
        command.emplace_back("-c");
        command.push_back(setting);
    }
    // The socket is reached through the folder, and the server may be another user.
    std::filesystem::permissions(folder_, std::filesystem::perms(0755));
    pid_ = spawn(command, folder_ / "log", true);
    wait_until_ready();
}

void PostgresServer::wait_until_ready() {
    const std::string maintenance = url("postgres");
    const int handle = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
    for (int tries = 0; tries < kReadyTriesMax; ++tries) {
        if (PQping(maintenance.c_str()) == PQPING_OK) {
            close(handle);
            if (execute("SELECT 1 FROM pg_database WHERE datname = 'ebb_test'", "postgres")
                    .empty()) {
                execute("CREATE ROLE secret", "postgres");
                execute("CREATE DATABASE ebb_test", "postgres");
            }
            return;
        }
        pollfd end{.fd = handle, .events = POLLIN, .revents = 0};
        if (poll(&end, 1, kReadyPauseMs) > 0) break;
    }
    close(handle);
    throw std::runtime_error("PostgreSQL did not start: " + read_log(folder_ / "log"));
}

std::string PostgresServer::url(std::string_view database, std::string_view user) const {
    const std::string port = port_ == kDefaultPort ? "" : fmt::format("port={}&", port_);
    return fmt::format("postgresql://{}@/{}?{}host={}", user, database, port, folder_.string());
}

std::string PostgresServer::execute(const std::string& sql, std::string_view database) const {
    const std::unique_ptr<PGconn, void (*)(PGconn*)> connection(
        PQconnectdb(url(database).c_str()), PQfinish
    );
    const std::unique_ptr<PGresult, void (*)(PGresult*)> result(
        PQexec(connection.get(), sql.c_str()), PQclear
    );
    const ExecStatusType status = PQresultStatus(result.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
        throw std::runtime_error(PQerrorMessage(connection.get()));
    }
    std::string text;
    for (int row = 0; row < PQntuples(result.get()); ++row) {
        text += PQgetvalue(result.get(), row, 0);
        text += '\n';
    }
    return text;
}

void PostgresServer::kill() {
    if (pid_ <= 0) return;
    // A stopped server forks no more children while they are counted.
    ::kill(pid_, SIGSTOP);
    int status = 0;
    while (waitpid(pid_, &status, WUNTRACED) < 0 && errno == EINTR) {
    }
    // Each child is in a group of its own. A server that is started while one of them is alive
    // refuses their shared memory, so we wait for the end of all of them.
    std::vector<int> children;
    std::error_code ignored;
    const std::string tasks = fmt::format("/proc/{}/task", pid_);
    for (const auto& task : std::filesystem::directory_iterator(tasks, ignored)) {
        std::ifstream file(task.path() / "children");
        for (pid_t child = 0; file >> child;) {
            const int handle = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
            if (handle >= 0) children.push_back(handle);
            ::kill(child, SIGKILL);
        }
    }
    if (!WIFEXITED(status) && !WIFSIGNALED(status)) {
        ::kill(pid_, SIGKILL);
        reap(pid_);
    }
    for (const int handle : children) {
        pollfd end{.fd = handle, .events = POLLIN, .revents = 0};
        while (poll(&end, 1, -1) < 0 && errno == EINTR) {
        }
        close(handle);
    }
    pid_ = -1;
    std::filesystem::remove(folder_ / "data" / "postmaster.pid", ignored);
}

void PostgresServer::stop() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGINT);
    reap(pid_);
    pid_ = -1;
}

PostgresServer& postgres_server() {
    static PostgresServer server;
    return server;
}

std::string fresh_schema() {
    static std::atomic<int> count = 0;
    return fmt::format("ebb_{}_{}", getpid(), ++count);
}

}  // namespace ebb::testing
