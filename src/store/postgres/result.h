#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <libpq-fe.h>

#include <ebb/id.h>
#include <ebb/time.h>

namespace ebb::postgres {

/// The rows that one statement has answered, in binary format. Throws CorruptState if a column
/// does not have the size that its reader expects.
class Result {
 public:
    explicit Result(PGresult* result) : result_(result) {}

    int rows() const { return PQntuples(result_.get()); }

    bool is_empty() const { return rows() == 0; }

    /// How many rows the statement itself has changed.
    std::int64_t changed() const;

    bool is_null(int row, int column) const { return PQgetisnull(result_.get(), row, column) == 1; }

    /// smallint, integer, bigint or boolean; 0 for NULL.
    std::int64_t integer(int row, int column) const;

    TimePoint time(int row, int column) const { return TimePoint(Duration(integer(row, column))); }

    bool boolean(int row, int column) const { return integer(row, column) != 0; }

    /// Empty for NULL. Valid as long as the result.
    std::string_view text(int row, int column) const;
    InstanceId id(int row, int column) const;
    std::vector<std::string> texts(int row, int column) const;

    PGresult* handle() const { return result_.get(); }

 private:
    struct Clear {
        void operator()(PGresult* result) const noexcept { PQclear(result); }
    };

    std::unique_ptr<PGresult, Clear> result_;
};

}  // namespace ebb::postgres
