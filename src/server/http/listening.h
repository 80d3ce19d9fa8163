#pragma once

#include <string>

#include "server/http/http.h"
#include "support/os_file.h"

namespace ebb::http {

/// A socket that listens.
struct ListeningSocket {
    FileDescriptor descriptor;
    std::string address;        ///< `127.0.0.1:8322`, `unix:PATH`
    bool is_inherited = false;  ///< of `fd:N`: another process keeps it open, too
    std::string unlinks;        ///< the path of a Unix socket that we made; empty = none

    ListeningSocket() = default;
    ListeningSocket(ListeningSocket&&) noexcept = default;
    ListeningSocket& operator=(ListeningSocket&&) = delete;

    ~ListeningSocket() { close(); }

    /// No client connects from now on. Removes the file of a Unix socket, before another process
    /// can have made its own one there.
    void close();
};

/// Binds and listens. Throws Error with InvalidArgument.
ListeningSocket listen_on(const Endpoint& endpoint);

/// Throws what listen_on() would throw because another program has the address, or because this one
/// may not have it. Does not listen, so no client ever connects to the address.
void check_is_free(const Endpoint& endpoint);

bool is_socket(int descriptor);

/// True if only this machine can reach the socket; false if `descriptor` is not a socket.
bool is_local_socket(int descriptor);

/// The peer of a connection.
struct Peer {
    std::string address;
    bool is_loopback = false;
    bool is_tcp = false;
};

Peer peer_of(int descriptor);

}  // namespace ebb::http
