#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "store/postgres/arguments.h"
#include "store/postgres/connection.h"
#include "store/store.h"

namespace ebb::postgres {

/// The effects of several commits or starts as arrays, and the statements that write them. Neither
/// is made where there are none.
class EffectColumns {
 public:
    /// Whether its task is folded does not matter.
    static constexpr std::int32_t kAnyFold = -1;

    EffectColumns() = default;
    EffectColumns(const EffectColumns&) = delete;
    EffectColumns& operator=(const EffectColumns&) = delete;

    /// For an instance that has the revision; `fold` as the statement end_waits knows it. Texts
    /// must live until the statements were sent.
    void add(
        const InstanceId& id, std::int64_t revision, std::int32_t fold, const Effects& effects
    );
    /// The same, in place of all that the instance has.
    void add_all(const SideRowRepair& repair);

    bool is_empty() const { return id_.size() == 0; }

    /// In one transaction, after all that locks the instances in order. The columns must live until
    /// the statements were sent.
    void append_to(std::vector<Call>& calls);

 private:
    void add_instance(const InstanceId& id, std::int64_t revision, std::int32_t fold);
    void add(const WaitChange& change);
    void add(const FailureChange& change);
    void add(const Notice& notice);
    void add(const Labels& labels);
    void put_wait(const WaitChange& change, std::string_view role);
    /// Arguments that begin with the instances.
    Arguments& make_arguments();

    std::int64_t count_ = 0;
    Array id_{Array::Of::Uuid};
    Array revision_{Array::Of::Bigint};
    Array fold_{Array::Of::Integer};

    Array end_ord_{Array::Of::Bigint};
    Array end_token_{Array::Of::Bigint};
    Array end_visit_{Array::Of::Bigint};

    Array wait_ord_{Array::Of::Bigint};
    Array wait_token_{Array::Of::Bigint};
    Array wait_role_{Array::Of::Text};
    Array wait_kind_{Array::Of::Text};
    Array wait_workflow_{Array::Of::Text};
    Array wait_node_{Array::Of::Text};
    Array wait_signal_{Array::Of::Text};
    Array wait_visit_{Array::Of::Bigint};
    Array wait_since_{Array::Of::Bigint};
    Array wait_deadline_{Array::Of::Bigint};
    Array wait_quorum_{Array::Of::Integer};
    Array wait_confirmed_{Array::Of::Integer};

    Array removed_ord_{Array::Of::Bigint};

    Array failure_ord_{Array::Of::Bigint};
    Array failure_workflow_{Array::Of::Text};
    Array failure_version_{Array::Of::Integer};
    Array failure_status_{Array::Of::Text};
    Array failure_step_{Array::Of::Text};
    Array failure_code_{Array::Of::Text};
    Array failure_group_{Array::Of::Text};
    Array failure_message_{Array::Of::Text};
    Array failure_event_{Array::Of::Bigint};
    Array failure_at_{Array::Of::Bigint};

    Array notice_ord_{Array::Of::Bigint};
    Array notice_subscription_{Array::Of::Text};
    Array notice_seq_{Array::Of::Bigint};
    Array notice_type_{Array::Of::Text};
    Array notice_data_{Array::Of::Text};
    Array notice_at_{Array::Of::Bigint};
    Array label_ord_{Array::Of::Bigint};
    Array label_name_{Array::Of::Text};
    Array label_type_{Array::Of::Text};
    Array label_text_{Array::Of::Text};
    Array label_number_{Array::Of::Text};
    Array label_time_{Array::Of::Bigint};

    std::deque<Arguments> arguments_;
};

}  // namespace ebb::postgres
