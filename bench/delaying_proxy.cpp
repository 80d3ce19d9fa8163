#include "delaying_proxy.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <list>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "support/os_file.h"

namespace ebb::bench {

namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr const char* kSocketName = ".s.PGSQL.5432";

sockaddr_un address_in(const std::filesystem::path& folder) {
    const std::string path = (folder / kSocketName).string();
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) throw std::runtime_error(path + " is too long");
    std::memcpy(address.sun_path, path.c_str(), path.size());
    return address;
}

const sockaddr* general(const sockaddr_un& address) {
    return reinterpret_cast<const sockaddr*>(&address);
}

void write_all(int socket, const std::vector<char>& bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t count = send(socket, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
        if (count <= 0) return;
        done += static_cast<std::size_t>(count);
    }
}

/// One direction of one connection: what comes in at `from` leaves at `to` after the delay.
class Direction {
 public:
    Direction(int from, int to, std::chrono::microseconds delay)
        : from_(from), to_(to), delay_(delay), reader_([this] { read(); }), writer_([this] {
              write();
          }) {}

    void join() {
        reader_.join();
        writer_.join();
    }

 private:
    struct Parcel {
        SteadyClock::time_point due;
        std::vector<char> bytes;  // none: the end
    };

    void read() {
        std::vector<char> buffer(1 << 16);
        ssize_t count = 1;
        while (count > 0) {
            count = recv(from_, buffer.data(), buffer.size(), 0);
            Parcel parcel{.due = SteadyClock::now() + delay_, .bytes = {}};
            if (count > 0) parcel.bytes.assign(buffer.begin(), buffer.begin() + count);
            const std::lock_guard lock(mutex_);
            parcels_.push_back(std::move(parcel));
            changed_.notify_one();
        }
    }

    void write() {
        while (true) {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [this] { return !parcels_.empty(); });
            const Parcel parcel = std::move(parcels_.front());
            parcels_.pop_front();
            lock.unlock();
            if (parcel.bytes.empty()) break;
            std::this_thread::sleep_until(parcel.due);
            write_all(to_, parcel.bytes);
        }
        shutdown(to_, SHUT_WR);
    }

    const int from_;
    const int to_;
    const std::chrono::microseconds delay_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<Parcel> parcels_;
    std::thread reader_;
    std::thread writer_;
};

}  // namespace

class DelayingProxy::Impl {
 public:
    Impl(std::filesystem::path folder, int one_way_us)
        : server_(std::move(folder)), delay_(one_way_us) {
        const sockaddr_un address = address_in(own_.path());
        listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (bind(listener_, general(address), sizeof address) != 0 || listen(listener_, 16) != 0) {
            throw std::runtime_error("the proxy cannot listen");
        }
        acceptor_ = std::thread([this] { accept_all(); });
    }

    ~Impl() {
        shutdown(listener_, SHUT_RDWR);
        acceptor_.join();
        for (Direction& direction : directions_) direction.join();
        for (const int handle : sockets_) close(handle);
        close(listener_);
    }

    std::string host() const { return own_.path().string(); }

 private:
    void accept_all() {
        while (true) {
            const int client = accept(listener_, nullptr, nullptr);
            if (client < 0) return;
            const int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
            const sockaddr_un address = address_in(server_);
            sockets_.insert(sockets_.end(), {client, server});
            if (connect(server, general(address), sizeof address) != 0) {
                shutdown(client, SHUT_RDWR);
                continue;
            }
            directions_.emplace_back(client, server, delay_);
            directions_.emplace_back(server, client, delay_);
        }
    }

    const TempDirectory own_;
    const std::filesystem::path server_;
    const std::chrono::microseconds delay_;
    int listener_ = -1;
    std::list<Direction> directions_;
    std::vector<int> sockets_;
    std::thread acceptor_;
};

DelayingProxy::DelayingProxy(std::filesystem::path folder, int one_way_us)
    : impl_(std::make_unique<Impl>(std::move(folder), one_way_us)) {}

DelayingProxy::~DelayingProxy() = default;

std::string DelayingProxy::host() const {
    return impl_->host();
}

}  // namespace ebb::bench
