#pragma once

#include <string>
#include <thread>
#include <vector>

#include <sys/types.h>

#include "process_use.h"

namespace ebb::bench {

/// A program that serves HTTP at 127.0.0.1 and prints `{"event":"serving","addresses":[...]}` when
/// it is ready. It ends with this object, or with this process.
class ServerProcess {
 public:
    /// The descriptor `inherited` becomes the program's descriptor 3; -1 = none. Throws
    /// std::runtime_error if the program ends before it is ready.
    explicit ServerProcess(const std::vector<std::string>& command, int inherited = -1);
    ServerProcess(const ServerProcess&) = delete;
    ServerProcess& operator=(const ServerProcess&) = delete;
    ~ServerProcess();

    int port() const { return port_; }

    pid_t pid() const { return pid_; }

    /// Milliseconds from the call of the program until it was ready.
    double ready_ms() const { return ready_ms_; }

    /// The secret of the login link that it has printed; empty = none.
    const std::string& login() const { return login_; }

    double cpu_seconds() const { return cpu_seconds_of(pid_); }

    double resident_bytes() const { return resident_bytes_of(pid_); }

    /// Sends SIGTERM and waits. True if the program ended with exit code 0.
    bool stop();

 private:
    void read_greeting(const std::string& line);

    pid_t pid_ = -1;
    int output_ = -1;
    int port_ = 0;
    double ready_ms_ = 0;
    std::string login_;
    std::jthread reader_;
};

}  // namespace ebb::bench
