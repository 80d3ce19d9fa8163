#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/postgres/arguments.h"

namespace ebb::postgres {

/// The words that many rows of one statement share: each is sent once, and a row names it by its
/// number. The words must live until the statement was sent.
class Words {
 public:
    /// The word's number, from 1; 0 for the empty word, which a statement reads as NULL.
    std::int32_t number_of(std::string_view word);

    /// All of them, as the statements know them by the name $1.
    const Array& array() const { return array_; }

 private:
    /// More are looked up in a table.
    static constexpr std::size_t kSearchedMax = 16;

    std::vector<std::string_view> first_;
    std::unordered_map<std::string_view, std::int32_t> others_;
    Array array_{Array::Of::Text};
};

}  // namespace ebb::postgres
