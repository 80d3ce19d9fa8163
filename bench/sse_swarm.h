#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace ebb::bench {

/// Many clients of one server, each with a connection that stays open: streams that receive events,
/// or idle ones that have sent one request. One thread reads for all of them.
class SseSwarm {
 public:
    struct Options {
        int port = 0;
        int clients = 1;
        std::vector<std::string> paths;  ///< of the requests; the clients take them by turns
        std::string headers{};           ///< lines of each request, each with its "\r\n"
    };

    /// Connects all clients, and returns when each has been answered. Throws std::runtime_error.
    explicit SseSwarm(const Options& options);
    SseSwarm(const SseSwarm&) = delete;
    SseSwarm& operator=(const SseSwarm&) = delete;
    ~SseSwarm();

    /// How many history events have arrived at all clients together.
    std::int64_t events() const { return events_; }

    /// How many connections the server has closed.
    int closed() const { return closed_; }

    /// Forgets the events so far. The delays of the next ones count from now.
    void begin();

    /// Waits until this many events have arrived since begin(), but not longer. False if they have
    /// not.
    bool wait_for(std::int64_t events, double seconds) const;

    /// Milliseconds of each event since begin().
    std::vector<double> delays_ms() const;

 private:
    struct Client {
        int socket = -1;
        bool is_answered = false;
        std::string tail;  ///< the beginning of an event whose rest has not come yet
    };

    void run();
    void read(Client& client);

    std::vector<Client> clients_;
    int poller_ = -1;
    std::atomic<int> answered_{0};
    std::atomic<int> closed_{0};
    std::atomic<std::int64_t> events_{0};
    std::atomic<std::int64_t> begun_ns_{0};
    mutable std::mutex mutex_;
    std::vector<float> delays_ms_;
    std::atomic<bool> is_stopped_{false};
    std::jthread thread_;
};

}  // namespace ebb::bench
