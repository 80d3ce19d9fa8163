#pragma once

#include <ebb/error.h>

namespace ebb {

/// A value that has no JSON form: NaN, an infinity, or text that is not UTF-8. It is the same error
/// as any InvalidPayload, but the failure of a handler that throws it is permanent: what it
/// computes has no JSON form the next time either.
class UnwritableValue : public Error {
 public:
    using Error::Error;
};

}  // namespace ebb
