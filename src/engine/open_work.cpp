#include "engine/open_work.h"

#include <utility>

namespace ebb::engine {

Work& OpenWork::work_of(const InstanceId& id) {
    const auto [index, is_new] = index_.emplace(id, works_.size());
    if (is_new) works_.push_back({.instance = id, .causes = {}, .rewrites = {}});
    return works_[index->second];
}

Work& OpenWork::urgent_work_of(const InstanceId& id) {
    Work& work = work_of(id);
    work.not_before = {};
    delayed_ = 0;
    return work;
}

std::vector<Work> OpenWork::take() {
    std::vector<Work> taken = std::exchange(works_, {});
    index_.clear();
    delayed_ = 0;
    works_.reserve(taken.size());
    return taken;
}

void OpenWork::put_back(Work work, bool is_delayed) {
    if (is_delayed) ++delayed_;
    index_.emplace(work.instance, works_.size());
    works_.push_back(std::move(work));
}

void OpenWork::refuse_requests(const std::exception_ptr& error) {
    for (Work& work : works_) refuse(work.causes, error);
}

}  // namespace ebb::engine
