#pragma once

#include <optional>

#include "store/postgres/arguments.h"
#include "store/postgres/result.h"
#include "store/store.h"

namespace ebb::postgres {

/// Of the statement send_mail. `now`: the time of a test.
Arguments mail_arguments(const Mail& mail, std::optional<TimePoint> now);

/// Its answer.
SendResult send_result(const Result& rows);

}  // namespace ebb::postgres
