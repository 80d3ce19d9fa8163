#pragma once

#include <functional>
#include <string>
#include <vector>

#include <ebb/id.h>

#include "store/store.h"
#include "view/payload_json.h"

// What else has to do with an instance.

namespace ebb::view {

inline constexpr int kSameKeyMax = 20;
inline constexpr int kBulkActsMax = 20;

/// `same_key`: instances of other workflows with its key, those that `may_see` holds for, the
/// newest first. Looks for the key once in each of `workflows`.
Json same_key_json(
    Store& store,
    const InstanceRow& instance,
    const std::vector<std::string>& workflows,
    const std::function<bool(const InstanceRow&)>& may_see
);

inline constexpr int kRerunsMax = 20;

/// `rerun_of`: the id of the instance whose work it has started again; null = none.
Json rerun_of_json(const InstanceRow& instance);

/// `reruns`: instances that have started its work again, those that `may_see` holds for, the newest
/// first.
Json reruns_json(
    Store& store,
    const InstanceRow& instance,
    const std::function<bool(const InstanceRow&)>& may_see
);

/// `bulks`: what bulk operations have done to it, the newest first. Reads the newest
/// kActsReadMax events of people and programs.
Json bulk_acts_json(Store& store, const InstanceId& id);

inline constexpr int kActsReadMax = 200;

/// The user or program that started the instance. Empty if its history is gone or does not name
/// one.
std::string started_by(Store& store, const InstanceId& id);

/// The group of the failure that `error` (of an InstanceView) describes; empty = it describes none.
std::string failure_group_of(const std::string& workflow, const Payload& error);

}  // namespace ebb::view
