#include "server/http/listening.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <ebb/error.h>

namespace ebb::http {

namespace {

constexpr int kBacklog = 1'024;

struct Address {
    sockaddr_storage storage{};
    socklen_t size = 0;

    sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }

    int family() const { return storage.ss_family; }
};

[[noreturn]] void throw_failed(const std::string& address, const char* what) {
    const int error = errno;
    throw Error(
        ErrorCode::InvalidArgument,
        fmt::format("Cannot listen on {}: {}: {}.", address, what, std::strerror(error))
    );
}

Address to_address(const Endpoint& endpoint) {
    Address address;
    if (endpoint.kind == Endpoint::Kind::Unix) {
        auto& local = reinterpret_cast<sockaddr_un&>(address.storage);
        local.sun_family = AF_UNIX;
        if (endpoint.host.size() >= sizeof(local.sun_path)) {
            errno = ENAMETOOLONG;
            throw_failed("unix:" + endpoint.host, "path");
        }
        std::memcpy(local.sun_path, endpoint.host.c_str(), endpoint.host.size() + 1);
        address.size = sizeof(sockaddr_un);
        return address;
    }
    const std::string host = endpoint.host == "localhost" ? "127.0.0.1" : endpoint.host;
    auto& six = reinterpret_cast<sockaddr_in6&>(address.storage);
    if (inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) == 1) {
        six.sin6_family = AF_INET6;
        six.sin6_port = htons(endpoint.port);
        address.size = sizeof(sockaddr_in6);
        return address;
    }
    auto& four = reinterpret_cast<sockaddr_in&>(address.storage);
    four.sin_family = AF_INET;
    four.sin_port = htons(endpoint.port);
    inet_pton(AF_INET, host.c_str(), &four.sin_addr);
    address.size = sizeof(sockaddr_in);
    return address;
}

/// `127.0.0.1:8322`; empty for a Unix socket.
std::string text_of(const Address& address, bool with_port) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (address.family() == AF_INET) {
        const auto& four = reinterpret_cast<const sockaddr_in&>(address.storage);
        inet_ntop(AF_INET, &four.sin_addr, text.data(), text.size());
        return with_port ? fmt::format("{}:{}", text.data(), ntohs(four.sin_port)) : text.data();
    }
    if (address.family() == AF_INET6) {
        const auto& six = reinterpret_cast<const sockaddr_in6&>(address.storage);
        inet_ntop(AF_INET6, &six.sin6_addr, text.data(), text.size());
        return with_port ? fmt::format("[{}]:{}", text.data(), ntohs(six.sin6_port)) : text.data();
    }
    return {};
}

/// A socket file on which no process listens is left over from a process that was killed.
void remove_stale_socket(const std::string& path, Address& address) {
    struct stat status{};
    if (lstat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return;
    const FileDescriptor probe(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (connect(probe.get(), address.get(), address.size) != 0 && errno == ECONNREFUSED) {
        unlink(path.c_str());
    }
}

/// Nothing if the system has no such group.
std::optional<gid_t> find_group(const std::string& name) {
    constexpr std::size_t kBytesMax = std::size_t{64} << 10;
    std::string buffer(kBytesMax, '\0');
    group row{};
    group* found = nullptr;
    const int error = getgrnam_r(name.c_str(), &row, buffer.data(), buffer.size(), &found);
    if (error != 0 || found == nullptr) return std::nullopt;
    return found->gr_gid;
}

/// So that a proxy under another user may connect. No client can connect before the socket listens.
void set_file_rights(const Endpoint& endpoint, const std::string& name) {
    if (!endpoint.group.empty()) {
        const auto gid = find_group(endpoint.group);
        if (!gid) {
            throw Error(
                ErrorCode::InvalidArgument,
                fmt::format(
                    "Cannot listen on {}: the system has no group \"{}\".", name, endpoint.group
                )
            );
        }
        constexpr auto kSameUser = static_cast<uid_t>(-1);
        if (chown(endpoint.host.c_str(), kSameUser, *gid) != 0) throw_failed(name, "chown");
    }
    if (endpoint.mode && chmod(endpoint.host.c_str(), *endpoint.mode) != 0) {
        throw_failed(name, "chmod");
    }
}

bool is_loopback(const std::string& address) {
    return address.starts_with("127.") || address == "::1" || address.starts_with("::ffff:127.");
}

}  // namespace

void ListeningSocket::close() {
    if (!descriptor.is_open()) return;
    if (!unlinks.empty()) unlink(unlinks.c_str());
    descriptor.reset();
}

namespace {

/// A service manager passes sockets that block and that other programs would inherit.
ListeningSocket inherit(int descriptor) {
    const std::string name = fmt::format("fd:{}", descriptor);
    int is_listening = 0;
    socklen_t size = sizeof(is_listening);
    if (getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &is_listening, &size) != 0) {
        throw_failed(name, "the service manager passes no such socket");
    }
    errno = EINVAL;
    if (is_listening == 0) throw_failed(name, "the socket does not listen");
    const int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) != 0 ||
        fcntl(descriptor, F_SETFD, FD_CLOEXEC) != 0) {
        throw_failed(name, "fcntl");
    }
    ListeningSocket socket;
    socket.descriptor = FileDescriptor(descriptor);
    socket.address = name;
    socket.is_inherited = true;
    return socket;
}

/// A socket that is bound and does not listen yet.
ListeningSocket bind_to(const Endpoint& endpoint) {
    ListeningSocket socket;
    const bool is_unix = endpoint.kind == Endpoint::Kind::Unix;
    const std::string name = endpoint.name();
    Address address = to_address(endpoint);
    if (is_unix) remove_stale_socket(endpoint.host, address);
    socket.descriptor =
        FileDescriptor(::socket(address.family(), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket.descriptor.is_open()) throw_failed(name, "socket");
    const int fd = socket.descriptor.get();
    const int on = 1;
    if (!is_unix) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (address.family() == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
    if (bind(fd, address.get(), address.size) != 0) throw_failed(name, "bind");
    socket.address = name;
    if (is_unix) {
        socket.unlinks = endpoint.host;
        set_file_rights(endpoint, name);
    }
    return socket;
}

ListeningSocket listen_at(const Endpoint& endpoint) {
    ListeningSocket socket = bind_to(endpoint);
    if (listen(socket.descriptor.get(), kBacklog) != 0) throw_failed(socket.address, "listen");
    return socket;
}

}  // namespace

bool is_socket(int descriptor) {
    Address address;
    address.size = sizeof(address.storage);
    return getsockname(descriptor, address.get(), &address.size) == 0;
}

bool is_local_socket(int descriptor) {
    Address address;
    address.size = sizeof(address.storage);
    if (getsockname(descriptor, address.get(), &address.size) != 0) return false;
    return address.family() == AF_UNIX || is_loopback(text_of(address, false));
}

ListeningSocket listen_on(const Endpoint& endpoint) {
    ListeningSocket socket = endpoint.kind == Endpoint::Kind::Descriptor
                                 ? inherit(endpoint.descriptor)
                                 : listen_at(endpoint);
    Address bound;
    bound.size = sizeof(bound.storage);
    if (getsockname(socket.descriptor.get(), bound.get(), &bound.size) != 0) {
        throw_failed(socket.address, "getsockname");
    }
    if (const std::string text = text_of(bound, true); !text.empty()) socket.address = text;
    return socket;
}

void check_is_free(const Endpoint& endpoint) {
    if (endpoint.kind != Endpoint::Kind::Descriptor) bind_to(endpoint);
}

Peer peer_of(int descriptor) {
    Address address;
    address.size = sizeof(address.storage);
    if (getpeername(descriptor, address.get(), &address.size) != 0) return {};
    if (address.family() == AF_UNIX) {
        ucred credentials{};
        socklen_t size = sizeof(credentials);
        getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size);
        return {fmt::format("unix:{}", credentials.uid), true, false};
    }
    Peer peer{text_of(address, false), false, true};
    peer.is_loopback = is_loopback(peer.address);
    const int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return peer;
}

}  // namespace ebb::http
