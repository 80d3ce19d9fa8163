#pragma once

#include "store/store_decorator.h"

namespace ebb::testing {

using ebb::is_write;
using ebb::StoreDecorator;
using ebb::StoreVerb;

}  // namespace ebb::testing
