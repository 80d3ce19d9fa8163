#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lsp/document.h"
#include "lsp/features/shared_words.h"
#include "lsp/features/symbols.h"
#include "lsp/positions.h"

namespace ebb::lsp {

struct WorkspaceLimits {
    static constexpr std::size_t kFilesMax = 20'000;
    static constexpr std::size_t kBytesMax = std::size_t{64} << 20;  ///< of all files together
    static constexpr std::size_t kFileBytesMax = std::size_t{1} << 20;
    static constexpr std::size_t kNamesMax = 200'000;   ///< of handlers; as many symbols and words
    static constexpr std::size_t kPatternsMax = 1'000;  ///< of `handlers` and of `exclude`
    static constexpr std::size_t kFoldersMax = 100;
    /// Files and folders that are looked at, wanted or not.
    static constexpr std::size_t kEntriesMax = 500'000;
};

/// Where a text names a handler.
struct HandlerPlace {
    enum class Role {
        Registration,  ///< code in C++ registers it
        Entry,         ///< an entry of `handlers:`, which counts for its own file only
        Call,          ///< by a step or as a compensation
    };

    std::string name{};
    std::size_t begin = 0;  ///< in the text, without quotes
    std::size_t end = 0;
    Role role = Role::Call;
    /// What is written around the handler's new name if it changes: a step that is named as its
    /// handler keeps its name and gets `handler:`.
    std::string before{};
    std::string after{};
    /// Code in C++ says it with a constant, or a text in a way that nothing can be added to.
    bool is_fixed = false;

    bool operator==(const HandlerPlace&) const = default;
};

/// All of them, in the order of the text: of a workflow in YAML or JSON, or of code in C++.
std::vector<HandlerPlace> handler_places(const Document& document);

/// A workflow, a node or a handler that a text declares.
struct DeclaredSymbol {
    std::string name{};
    SymbolKind kind = SymbolKind::Module;
    std::string workflow{};  ///< that it belongs to; empty for workflows and for handlers in C++
    std::size_t begin = 0;   ///< in the text
    std::size_t end = 0;
};

/// In the order of the text; of a text that is neither a workflow nor code in C++ none.
std::vector<DeclaredSymbol> declared_symbols(const Document& document);

/// What the files of a workspace declare, and the handlers that they register and call. It keeps
/// names and places, and no text.
class WorkspaceIndex {
 public:
    struct Symbol {
        std::string name{};
        SymbolKind kind = SymbolKind::Module;
        std::string workflow{};
        Position begin{};
        Position end{};
    };

    /// By URI.
    using Symbols = std::map<std::string, std::vector<Symbol>, std::less<>>;

    struct Place {
        std::string uri{};
        Position begin{};
        Position end{};
        HandlerPlace::Role role = HandlerPlace::Role::Call;
        std::string before{};  ///< as of HandlerPlace
        std::string after{};
        bool is_fixed = false;
    };

    /// Replaces what is known of the file.
    void set(const Document& document);
    void remove(const std::string& uri);
    void clear();

    /// Where the name is in files other than `own`, by file.
    std::vector<Place> find(std::string_view name, const std::string& own) const;

    /// Where code in C++ registers the handler.
    std::vector<Place> registrations(std::string_view name, const std::string& own) const;

    /// The handlers that code in C++ registers, sorted, at most `max`.
    std::vector<std::string> registered(std::size_t max) const;

    /// The words of a kind in files other than `own`, sorted, at most `max`.
    std::vector<std::string> words(WordKind kind, const std::string& own, std::size_t max) const;

    /// Grows whenever code registers other names than before.
    int revision() const { return revision_; }

    bool has_registrations() const { return !registered(1).empty(); }

    const Symbols& symbols() const { return symbols_; }

    std::size_t file_count() const { return names_.size(); }

    /// Names were left out, because there are more than the limit.
    bool is_full() const { return count_ >= WorkspaceLimits::kNamesMax; }

 private:
    using Files = std::map<std::string, std::vector<Place>, std::less<>>;

    std::map<std::string, Files, std::less<>> files_;                  ///< by name, then by URI
    std::map<std::string, std::set<std::string>, std::less<>> names_;  ///< by URI
    /// How many places of how many files register a name.
    std::map<std::string, std::size_t, std::less<>> registrations_;
    std::size_t count_ = 0;
    Symbols symbols_;
    std::size_t symbol_count_ = 0;
    std::map<std::string, std::set<std::pair<WordKind, std::string>>, std::less<>> words_;
    std::size_t word_count_ = 0;
    int revision_ = 0;

    void set_words(const std::string& uri, const Document& document);
    void set_symbols(const std::string& uri, const Document& document);
    void count_registration(const std::string& name, int change);
};

}  // namespace ebb::lsp
