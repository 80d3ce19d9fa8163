#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <ebb/builder.h>

#include "source/cpp_value.h"
#include "source/cpp_workflow.h"

// The calls of builders that the code makes are made here, on real builders. So what a call means
// is written down once, in the builders.

namespace ebb::source {

/// A block that is being filled.
struct CppBlock {
    std::string path;
    std::size_t count = 0;
};

/// A builder that an expression or a name stands for.
struct CppBuilder {
    enum class Kind {
        Workflow,
        Block,
        Node,
        Step,
        Parallel,
        Loop,
        Decision,
        Signal,
        Savepoint,
        Graph
    };

    std::shared_ptr<void> owner;  ///< null: another object owns it
    BlockBuilder* builder = nullptr;
    Kind kind = Kind::Block;
    std::shared_ptr<CppBlock> block;
    std::string node;  ///< its path; empty of a block and of the workflow
};

/// `.name(arguments)`
struct CppCall {
    CppBuilder& builder;  ///< becomes what the call returns
    std::string_view name;
    std::vector<TokenRange> arguments;
    TokenRange range;
};

class CppCalls {
 public:
    /// Reads the function of a block into its builder.
    using BlockReader = std::function<void(const CppValue& function, CppBuilder inner)>;

    CppCalls(const CppCode& code, CppWorkflow& found, CppBindings bindings, BlockReader reader);

    /// Makes the call, or notes that it is not known.
    void call(CppCall& call);

    /// Whether a function of a builder has this name.
    static bool knows(std::string_view name);

    /// A node that stands for what is added in a way that is not known.
    void add_unknown(const CppBuilder& builder, TokenRange range);

    void note_unknown(const std::string& path, TokenRange range);

    std::string text(TokenRange range, const std::string& path);
    std::optional<std::int64_t> integer(TokenRange range, const std::string& path);

    /// What nodes that are added from now on are inside of; empty = nothing.
    std::string frame{};

 private:
    using Function = void (CppCalls::*)(CppCall&);

    const CppCode& code_;
    CppWorkflow& found_;
    CppBindings bindings_;
    BlockReader reader_;

    static const std::vector<std::pair<std::string_view, Function>>& functions();

    CppValue value(TokenRange range) const { return evaluate(code_, range, bindings_); }

    void place(const std::string& path, TokenRange range);
    Payload json(TokenRange range, const std::string& path);

    Payload json_argument(const CppCall& call, std::size_t index, const std::string& key) {
        if (index >= call.arguments.size()) return {};
        return json(call.arguments[index], call.builder.node + key);
    }

    std::string argument(const CppCall& call, std::size_t index, const std::string& key);
    std::optional<Duration> time(TokenRange range, const std::string& path);
    std::optional<double> real(TokenRange range, const std::string& path);
    std::optional<bool> truth(TokenRange range, const std::string& path);
    template <typename Enum>
    std::optional<Enum> word(
        TokenRange range,
        const std::string& path,
        std::initializer_list<std::pair<std::string_view, Enum>> words
    );
    std::vector<std::string> texts(TokenRange range, const std::string& path);

    using FieldReader = std::function<bool(std::string_view name, TokenRange value)>;
    void fields(TokenRange range, const std::string& path, const FieldReader& read);

    AttemptOptions::BackoffOptions backoff_options(TokenRange range, const std::string& path);
    AttemptOptions attempt_options(TokenRange range, const std::string& path);
    AttemptPolicy attempt_policy(TokenRange range, const std::string& path);
    StepOptions step_options(TokenRange range, const std::string& path);
    BlockFunction block_function(TokenRange range, const std::string& path);
    template <typename Lane>
    std::vector<Lane> lanes(TokenRange range, const std::string& path, const std::string& key);

    std::string begin_node(const CppCall& call, std::string_view kind);
    template <typename Make>
    void become(CppCall& call, CppBuilder::Kind kind, const std::string& path, const Make& make);

    template <typename Builder>
    Builder& as(const CppCall& call) const {
        return *static_cast<Builder*>(call.builder.builder);
    }

    bool is(const CppCall& call, CppBuilder::Kind kind) const { return call.builder.kind == kind; }

    void add_step(CppCall& call);
    void add_condition(CppCall& call);
    void add_switch(CppCall& call);
    void add_parallel(CppCall& call);
    void add_loop(CppCall& call);
    void add_delay(CppCall& call);
    void add_decision(CppCall& call);
    void add_signal(CppCall& call);
    void add_savepoint(CppCall& call);
    void add_fail(CppCall& call);
    void add_graph(CppCall& call);
    void add_any(CppCall& call);

    void set_about(CppCall& call);
    void set_step_text(CppCall& call);
    void set_attempts(CppCall& call);
    void set_compensate(CppCall& call);
    void set_join(CppCall& call);
    void set_max_iterations(CppCall& call);
    void set_decision(CppCall& call);
    void set_deadline(CppCall& call);
    void set_signal(CppCall& call);
    void set_resume(CppCall& call);
    void set_graph(CppCall& call);
    void set_workflow(CppCall& call);
    void set_label(CppCall& call);
    void set_workflow_payload(CppCall& call);

    void refuse(const CppCall& call);
};

template <typename Enum>
std::optional<Enum> CppCalls::word(
    TokenRange range,
    const std::string& path,
    std::initializer_list<std::pair<std::string_view, Enum>> words
) {
    place(path, range);
    const CppValue known = value(range);
    for (const auto& [name, enumerator] : words) {
        if (known.is(CppValue::Kind::Word) && known.text == name) return enumerator;
    }
    note_unknown(path, range);
    return std::nullopt;
}

}  // namespace ebb::source
