#include "sse_swarm.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <stdexcept>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http_client.h"

namespace ebb::bench {

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::string_view kEvent = "event: history\n";
/// A server takes 256 connections of one address.
constexpr int kClientsOfAddress = 200;
/// 127.1.0.1, and the addresses after it.
constexpr std::uint32_t kFirstAddress = 0x7F010001;
constexpr double kOpenSeconds = 60;
/// A server refuses requests if more than 256 wait.
constexpr int kUnansweredMax = 100;

std::int64_t now_ns() {
    return SteadyClock::now().time_since_epoch() / std::chrono::nanoseconds(1);
}

bool wait_until(double seconds, const auto& is_true) {
    const std::int64_t end = now_ns() + static_cast<std::int64_t>(seconds * 1e9);
    while (!is_true()) {
        if (now_ns() > end) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

}  // namespace

SseSwarm::SseSwarm(const Options& options)
    : clients_(static_cast<std::size_t>(options.clients)), poller_(::epoll_create1(EPOLL_CLOEXEC)) {
    thread_ = std::jthread([this] { run(); });
    for (std::size_t i = 0; i < clients_.size(); ++i) {
        Client& client = clients_[i];
        const auto group = static_cast<std::uint32_t>(i) / kClientsOfAddress;
        client.socket = connect_loopback(options.port, kFirstAddress + group);
        const std::string request = fmt::format(
            "GET {} HTTP/1.1\r\nHost: 127.0.0.1\r\n{}\r\n",
            options.paths[i % options.paths.size()],
            options.headers
        );
        ::send(client.socket, request.data(), request.size(), MSG_NOSIGNAL);
        ::fcntl(client.socket, F_SETFL, O_NONBLOCK);
        epoll_event event{};
        event.events = EPOLLIN;
        event.data.ptr = &client;
        ::epoll_ctl(poller_, EPOLL_CTL_ADD, client.socket, &event);
        const int sent = static_cast<int>(i) + 1;
        wait_until(kOpenSeconds, [&] { return sent - answered_ - closed_ < kUnansweredMax; });
    }
    const bool is_open =
        wait_until(kOpenSeconds, [&] { return answered_ + closed_ >= options.clients; });
    if (is_open && closed_ == 0) return;
    is_stopped_ = true;
    thread_.join();
    throw std::runtime_error(fmt::format(
        "of {} streams, the server has opened {} and closed {}",
        options.clients,
        answered_.load(),
        closed_.load()
    ));
}

SseSwarm::~SseSwarm() {
    is_stopped_ = true;
    if (thread_.joinable()) thread_.join();
    for (const Client& client : clients_) ::close(client.socket);
    ::close(poller_);
}

void SseSwarm::begin() {
    const std::lock_guard lock(mutex_);
    delays_ms_.clear();
    events_ = 0;
    begun_ns_ = now_ns();
}

bool SseSwarm::wait_for(std::int64_t events, double seconds) const {
    return wait_until(seconds, [&] { return events_ >= events; });
}

std::vector<double> SseSwarm::delays_ms() const {
    const std::lock_guard lock(mutex_);
    return {delays_ms_.begin(), delays_ms_.end()};
}

void SseSwarm::run() {
    std::array<epoll_event, 256> ready{};
    while (!is_stopped_) {
        const int count =
            ::epoll_wait(poller_, ready.data(), static_cast<int>(ready.size()), /*timeout=*/50);
        const std::lock_guard lock(mutex_);
        for (int i = 0; i < count; ++i) {
            read(*static_cast<Client*>(ready[static_cast<std::size_t>(i)].data.ptr));
        }
    }
}

void SseSwarm::read(Client& client) {
    std::array<char, 65'536> bytes;
    const ssize_t count = ::recv(client.socket, bytes.data(), bytes.size(), 0);
    if (count <= 0) {
        ::epoll_ctl(poller_, EPOLL_CTL_DEL, client.socket, nullptr);
        ++closed_;
        return;
    }
    const double delay = static_cast<double>(now_ns() - begun_ns_) / 1e6;
    std::string text = std::move(client.tail);
    text.append(bytes.data(), static_cast<std::size_t>(count));
    if (!client.is_answered && text.starts_with("HTTP/1.1 200")) {
        client.is_answered = true;
        ++answered_;
    }
    for (std::size_t at = text.find(kEvent); at != std::string::npos;
         at = text.find(kEvent, at + kEvent.size())) {
        delays_ms_.push_back(static_cast<float>(delay));
        ++events_;
    }
    const std::size_t kept = std::min(text.size(), kEvent.size() - 1);
    client.tail = text.substr(text.size() - kept);
}

}  // namespace ebb::bench
