#pragma once

#include <string>
#include <vector>

#include "core/predicate/value.h"
#include "support/dice.h"

namespace ebb::test {

/// One attribute of each type and more, that random conditions read.
const std::vector<predicate::Column>& random_columns();

/// A row of values that are near to each other and to the literals of random conditions, as the
/// texts that PostgreSQL reads; an empty optional is NULL.
std::vector<std::optional<std::string>> random_row_texts(Dice& dice);
/// The same row as conditions see it.
predicate::Row row_of(const std::vector<std::optional<std::string>>& texts);

/// A condition of the subset whose types fit; evaluating it may fail.
std::string random_condition(Dice& dice, int depth);

}  // namespace ebb::test
