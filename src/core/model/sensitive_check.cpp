#include "core/model/sensitive_check.h"

#include <set>
#include <string_view>

#include <fmt/format.h>

#include "core/model/words.h"
#include "support/json_pointer.h"

namespace ebb::model {

void check_sensitive(Findings& findings, const Definition& definition) {
    const auto& pointers = definition.sensitive;
    if (pointers.size() > DefinitionLimits::kSensitiveMax) {
        findings.note(
            "too_many_pointers",
            "/sensitive",
            fmt::format(
                "There are {} pointers; at most {} are allowed.",
                pointers.size(),
                DefinitionLimits::kSensitiveMax
            )
        );
    }
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < pointers.size(); ++i) {
        const std::string path = fmt::format("/sensitive/{}", i);
        check_text(findings, path, pointers[i], DefinitionLimits::kPointerBytesMax);
        if (!parse_json_pointer(pointers[i])) {
            findings.note(
                "invalid_pointer",
                path,
                fmt::format(
                    "{} is not a JSON pointer such as /card/number. Each segment begins with \"/\" "
                    "and names a member or an index; * stands for any, ~1 for \"/\", and ~0 for "
                    "\"~\".",
                    in_quotes(pointers[i])
                )
            );
        }
        if (seen.insert(pointers[i]).second) continue;
        findings.note(
            "duplicate_pointer",
            path,
            fmt::format("The pointer {} is given twice: keep one.", in_quotes(pointers[i]))
        );
    }
}

}  // namespace ebb::model
