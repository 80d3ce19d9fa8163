#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string_view>
#include <vector>

#include <ebb/clock.h>
#include <ebb/server.h>

#include "support/sync.h"

namespace ebb::server {

/// The requests and streams that are not answered or ended yet, in the order in which they came.
/// Thread-safe.
class OpenRequests {
    struct Row {
        std::string_view method;
        std::string_view route;
        SteadyPoint begun{};
    };

 public:
    /// Of pages, and of paths that no route has.
    static constexpr std::string_view kNoRoute = "-";

    explicit OpenRequests(const Clock& clock) : clock_(clock) {}

    /// One of them, for as long as it lives. Its texts must outlive `requests`.
    class Entry {
     public:
        Entry(std::shared_ptr<OpenRequests> requests, std::string_view method);
        Entry(const Entry&) = delete;
        Entry& operator=(const Entry&) = delete;
        ~Entry();

        void set_route(std::string_view route);

     private:
        std::shared_ptr<OpenRequests> requests_;
        std::list<Row>::iterator row_;
    };

    std::size_t count() const;
    /// The oldest, at most `most`.
    std::vector<ebb::Server::OpenRequest> oldest(std::size_t most) const;

 private:
    const Clock& clock_;
    mutable Mutex mutex_;
    std::list<Row> rows_ EBB_GUARDED_BY(mutex_);
};

}  // namespace ebb::server
