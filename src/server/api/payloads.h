#pragma once

#include <string>
#include <vector>

#include <ebb/engine.h>

#include "view/payload_json.h"

namespace ebb::server {

/// A JSON document in which payloads stand exactly as they were given: their numbers keep all
/// digits. The views would parse and print them.
class PayloadDocument {
 public:
    static constexpr std::size_t kShortBytesMax = std::size_t{4} << 10;

    /// `mode`: `none`, `short` or `full`.
    explicit PayloadDocument(std::string mode);

    /// What stands for the payload until `text`. `href` is where all of it is; empty = nowhere.
    view::Json value(const Payload& payload, const std::string& href = {});

    view::Json event(HistoryEntry entry, const std::string& href);
    view::Json step(StepView step);

    std::string text(const view::Json& document) const;

 private:
    std::string mode_;
    std::string mark_;
    std::vector<std::string> payloads_;
};

}  // namespace ebb::server
