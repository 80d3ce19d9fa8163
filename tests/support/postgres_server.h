#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace ebb::testing {

/// A PostgreSQL server of our own: in a temporary folder, reached by a Unix socket there, with the
/// superuser `ebb` and the database `ebb_test`. It ends, and its files go, with this object, or
/// with the process however that ends. Where we are root it runs as the user `postgres`.
class PostgresServer {
 public:
    enum class Durability {
        None,  ///< fsync off: for tests
        Full,  ///< the server's own defaults: for measurements
    };

    enum class Reach {
        Socket,
        Tcp,  ///< at 127.0.0.1 as well, at a port that is free
    };

    explicit PostgresServer(
        Durability durability = Durability::None,
        std::vector<std::string> settings = {},
        Reach reach = Reach::Socket
    );
    PostgresServer(const PostgresServer&) = delete;
    PostgresServer& operator=(const PostgresServer&) = delete;
    ~PostgresServer();

    /// `postgresql://ebb@/ebb_test?host=...`; `user` may carry a password: `me:secret`.
    std::string url(std::string_view database = "ebb_test", std::string_view user = "ebb") const;

    /// The folder of the socket, whose name is .s.PGSQL.5432, or ends in its own port.
    const std::filesystem::path& folder() const { return folder_; }

    int port() const { return port_; }

    /// Makes a file belong to whom the server runs as, who alone may read it, as a private key.
    static void give(const std::filesystem::path& file);

    /// Runs statements as the superuser; returns the first column of the last one's rows, a line
    /// each. Throws std::runtime_error with the server's message.
    std::string execute(const std::string& sql, std::string_view database = "ebb_test") const;

    /// Ends it as a power failure would, with all its processes.
    void kill();
    /// Ends it in good order; open sessions are notified.
    void stop();
    /// Starts it again on the same files.
    void start();

    pid_t pid() const { return pid_; }

    /// The programs that come with it: initdb, pgbench, ...
    static std::filesystem::path program(std::string_view name);

 private:
    void make();
    void wait_until_ready();

    std::filesystem::path folder_;
    std::vector<std::string> settings_;
    static constexpr int kDefaultPort = 5432;
    int port_ = kDefaultPort;
    pid_t pid_ = -1;
};

/// The one server of this test program, started when it is first asked for.
PostgresServer& postgres_server();

/// A name for a schema that is not used yet.
std::string fresh_schema();

}  // namespace ebb::testing
