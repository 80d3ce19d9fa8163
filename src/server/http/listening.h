#pragma once

#include <string>

#include "server/http/http.h"
#include "support/os_file.h"

namespace ebb::http {

/// A socket that listens.
struct ListeningSocket {
    FileDescriptor descriptor;
    std::string address;  ///< `127.0.0.1:8322`, `unix:PATH`
    std::string unlinks;  ///< the path of a Unix socket that we made; empty = none

    ListeningSocket() = default;
    ListeningSocket(ListeningSocket&&) noexcept = default;
    ListeningSocket& operator=(ListeningSocket&&) = delete;
    ~ListeningSocket();
};

/// Binds and listens. Throws Error with InvalidArgument.
ListeningSocket listen_on(const Endpoint& endpoint);

/// Who is at the other end of a connection.
struct Peer {
    std::string address;
    bool is_loopback = false;
    bool is_tcp = false;
};

Peer peer_of(int descriptor);

}  // namespace ebb::http
