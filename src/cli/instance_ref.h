#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/client.h"

namespace ebb::cli {

/// The minimum number of characters that can name an id.
inline constexpr std::size_t kIdPartMin = 4;
/// The end of an id that tables show: the beginning only says when it was made.
inline constexpr std::size_t kShortIdLength = 8;
/// Only the newest ones are searched for a part that is not the beginning of an id.
inline constexpr int kPartSearchMax = 20'000;
/// The largest N of `@N`.
inline constexpr int kNewestMax = 1'000;

/// The instance that the user means: a whole id, its beginning, its end or another part of it that
/// no other instance has, `key:WORKFLOW/KEY`, or `@N` for the N-th newest one. Throws Error with
/// InvalidArgument if the text is none of these or several instances fit, and with
/// InstanceNotFound if none does, or WorkflowNotFound.
InstanceId resolve_instance(Client& engine, std::string_view text);

/// Whether `text` has the form of a name of an instance. Of the names of workflows, only those
/// that consist of hexadecimal digits have it.
bool may_name_instance(std::string_view text);

/// The same for several, each once, in the order in which they were first named.
std::vector<InstanceId> resolve_instances(Client& engine, const std::vector<std::string>& texts);

/// The last kShortIdLength characters.
std::string short_id(const InstanceId& id);

}  // namespace ebb::cli
