#pragma once

#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <libpq-fe.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "store/conformance.h"
#include "support/postgres_server.h"
#include "support/store_process.h"

namespace ebb::testing {

/// A PgBouncer before the server of the tests, reached by a socket in a folder of its own.
class PgBouncer {
 public:
    /// Every client is `user` to the server.
    explicit PgBouncer(
        const std::string& settings = "default_pool_size = 3\n",
        const PostgresServer& server = postgres_server(),
        const std::string& user = "ebb"
    ) {
        if (access(kProgram, X_OK) != 0) {
            throw std::runtime_error(std::string(kProgram) + " is missing: ./dev setup");
        }
        // It may become another user, who must reach the folder.
        std::filesystem::permissions(dir_.path(), std::filesystem::perms(0777));
        std::ofstream config(dir_.file("pgbouncer.ini"));
        config << "[databases]\nebb_test = host=" << server.folder().string() << " user=" << user
               << "\n[pgbouncer]\npool_mode = transaction\nauth_type = any\n"
               << settings << "max_client_conn = 100\nunix_socket_mode = 0777\n"
               << "unix_socket_dir = " << dir_.path().string() << "\n";
        if (geteuid() == 0) config << "user = postgres\n";
        config.close();
        pid_ = fork();
        if (pid_ == 0) serve();
        wait_until_ready();
    }

    PgBouncer(const PgBouncer&) = delete;
    PgBouncer& operator=(const PgBouncer&) = delete;

    ~PgBouncer() {
        kill(pid_, SIGKILL);
        wait_for(pid_);
    }

    std::string url() const {
        return "postgresql://ebb@/ebb_test?port=6432&host=" + dir_.path().string();
    }

 private:
    static constexpr const char* kProgram = "/usr/sbin/pgbouncer";

    [[noreturn]] void serve() {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        const int log = open(dir_.file("log").c_str(), O_WRONLY | O_CREAT, 0666);
        dup2(log, 1);
        dup2(log, 2);
        execl(kProgram, kProgram, dir_.file("pgbouncer.ini").c_str(), nullptr);
        _exit(127);
    }

    void wait_until_ready() {
        std::string error;
        for (int tries = 0; tries < 3'000; ++tries) {
            PGconn* connection = PQconnectdb(url().c_str());
            const bool is_ready = PQstatus(connection) == CONNECTION_OK;
            error = PQerrorMessage(connection);
            PQfinish(connection);
            if (is_ready) return;
            poll(nullptr, 0, 10);
        }
        throw std::runtime_error("PgBouncer does not answer: " + error);
    }

    TempDir dir_;
    pid_t pid_ = -1;
};

}  // namespace ebb::testing
