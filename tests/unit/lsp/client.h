#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "lsp/lsp.h"

namespace ebb::lsp::test {

/// A workflow that most tests open.
inline constexpr std::string_view kOrderWorkflow = R"(workflow: order
deadline: 1h
handlers:
  charge: {http: {url: "https://example.com/charge"}}
steps:
  - step: reserve
    compensate: release
  - condition: large
    when: input.amount > 100
    then:
      - step: approve
        handler: charge
  - step: charge
    input: {order: "${steps.reserve.output.id}"}
)";

/// An editor: opens one document, and asks about the place that `|` marks in its text.
class Client {
 public:
    enum class Snippets { Unknown, Known };

    explicit Client(std::string_view encoding = "utf-16", Snippets snippets = Snippets::Unknown);

    /// Opens the text without its mark, or replaces it. What the server says to that.
    std::vector<Json> open(
        std::string_view marked, const std::string& uri = "file:///order.ebb.yaml"
    );
    /// The answer to a request at the mark, with more parameters.
    Json ask(const std::string& method, Json params = Json::object());
    /// The labels that completion offers at the mark.
    std::vector<std::string> labels();
    /// The text after the edits of a WorkspaceEdit.
    std::string after(const Json& edit) const;
    /// The text between the positions of a range.
    std::string text_at(const Json& range) const;

    /// The diagnostics that came last.
    const Json& diagnostics() const { return diagnostics_; }

    std::vector<Json> send(const Json& message);

    Server& server() { return server_; }

    const std::string& text() const { return text_; }

    Json initialized{};

 private:
    Server server_;
    std::string uri_;
    std::string text_;
    std::size_t mark_ = 0;
    int id_ = 0;
    int version_ = 0;
    Encoding encoding_;
    Json diagnostics_ = Json::array();
};

Json request(int id, const std::string& method, Json params);
Json notification(const std::string& method, Json params);

}  // namespace ebb::lsp::test
