#pragma once

#include <filesystem>
#include <memory>
#include <string>

namespace ebb::bench {

/// Stands between clients and the Unix socket of a PostgreSQL server and hands every byte on later,
/// in both directions: a network with a latency but with any bandwidth.
class DelayingProxy {
 public:
    /// `folder`: of the server's socket; `one_way_us`: half of what a round trip takes longer.
    DelayingProxy(std::filesystem::path folder, int one_way_us);
    DelayingProxy(const DelayingProxy&) = delete;
    DelayingProxy& operator=(const DelayingProxy&) = delete;
    /// All connections must be closed by then.
    ~DelayingProxy();

    /// The folder of its own socket, for host= in a URL.
    std::string host() const;

 private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace ebb::bench
