#include "store/postgres/words.h"

#include <algorithm>

namespace ebb::postgres {

std::int32_t Words::number_of(std::string_view word) {
    if (word.empty()) return 0;
    const auto found = std::find(first_.begin(), first_.end(), word);
    if (found != first_.end()) return static_cast<std::int32_t>(found - first_.begin()) + 1;
    const auto next = static_cast<std::int32_t>(array_.size()) + 1;
    if (first_.size() < kSearchedMax) {
        first_.push_back(word);
        array_.add(word);
        return next;
    }
    const auto [known, is_new] = others_.emplace(word, next);
    if (is_new) array_.add(word);
    return known->second;
}

}  // namespace ebb::postgres
