#include "server/api/open_requests.h"

#include <string>
#include <utility>

namespace ebb::server {

OpenRequests::Entry::Entry(std::shared_ptr<OpenRequests> requests, std::string_view method)
    : requests_(std::move(requests)) {
    const Lock lock(requests_->mutex_);
    const SteadyPoint now = requests_->clock_.steady_now();
    row_ = requests_->rows_.insert(requests_->rows_.end(), {method, kNoRoute, now});
}

OpenRequests::Entry::~Entry() {
    const Lock lock(requests_->mutex_);
    requests_->rows_.erase(row_);
}

void OpenRequests::Entry::set_route(std::string_view route) {
    const Lock lock(requests_->mutex_);
    row_->route = route;
}

std::size_t OpenRequests::count() const {
    const Lock lock(mutex_);
    return rows_.size();
}

std::vector<ebb::Server::OpenRequest> OpenRequests::oldest(std::size_t most) const {
    const SteadyPoint now = clock_.steady_now();
    std::vector<ebb::Server::OpenRequest> requests;
    const Lock lock(mutex_);
    for (const Row& row : rows_) {
        if (requests.size() == most) break;
        requests.push_back(
            {.method = std::string(row.method),
             .route = std::string(row.route),
             .age = now - row.begun}
        );
    }
    return requests;
}

}  // namespace ebb::server
