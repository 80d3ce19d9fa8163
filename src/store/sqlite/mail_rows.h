#pragma once

#include <span>
#include <string_view>

#include "store/sqlite/database.h"
#include "store/store.h"

// The rows of mail, in the transaction that is open.

namespace ebb::sqlite {

/// As Store::send.
SendResult send_mail(Database& database, const Mail& mail, TimePoint now);

/// Adds the oldest mail of the instance to the claim of its kMailTask.
void read_mail(Database& database, std::string_view instance, Claim& claim);

/// Removes what a commit has decided. Its wake is removed, too, or stays for the rest.
void receive_mail(
    Database& database, std::string_view instance, std::span<const MailKey> received, TimePoint now
);

}  // namespace ebb::sqlite
