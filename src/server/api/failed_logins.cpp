#include "server/api/failed_logins.h"

namespace ebb::server {

void FailedLogins::note(const Problem& problem, const Attempt& attempt) {
    if (problem.failed_login().empty()) return;
    {
        const Lock lock(mutex_);
        ++counts_[problem.failed_login()];
    }
    if (log_ == nullptr || !log_->is_enabled(LogLevel::Warning)) return;
    const LogField fields[] = {
        {"credential", problem.failed_login()},
        {"route", attempt.route},
        {"remote", attempt.remote},
        {"reason", problem.what()},
        {"request_id", attempt.request_id},
    };
    log_->write(LogLevel::Warning, "auth_failed", fields);
}

std::map<std::string, std::uint64_t> FailedLogins::counts() const {
    const Lock lock(mutex_);
    return counts_;
}

}  // namespace ebb::server
