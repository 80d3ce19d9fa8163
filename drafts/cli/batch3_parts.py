ed('options.h',('''    Duration drain_timeout = std::chrono::seconds(30);
    int threads = 0;
};''','''    Duration drain_timeout = std::chrono::seconds(30);
    int threads = 0;
    bool may_exec = false;
};'''),('    bool is_once = false;\n','    bool is_once = false;\n    bool may_exec = false;\n'))
ed('serving.h',('/// The handlers of all of them.','''/// A handler that would run a program which only the database names.
struct RefusedExec {
    std::string workflow{};
    int version = 1;
    std::string handler{};
};

/// Whether programs may be run that only the database names: by --allow-exec, or EBB_ALLOW_EXEC=1.
bool may_exec(Session& session, bool is_allowed);

/// Takes the entries with `exec` out of `served` that no file has in exactly these words, unless
/// they are allowed; returns them. Who may write to the database may not thereby run programs here.
std::vector<RefusedExec> refuse_exec(
    std::vector<Served>& served, const std::vector<DefinitionFile>& files, bool is_allowed
);

/// The handlers of all of them.'''),
('''HandlerRegistry handlers_of(
    Store& store, const std::vector<Served>& served, const std::vector<DefinitionFile>& files
);''','''HandlerRegistry handlers_of(
    Store& store,
    const std::vector<Served>& served,
    const std::vector<DefinitionFile>& files,
    bool may_exec = false
);'''))
ed('serving.cpp',('''    LaterHandlers(Store& store, const std::vector<DefinitionFile>& files) : store_(store) {
''','''    LaterHandlers(Store& store, const std::vector<DefinitionFile>& files, bool may_exec)
        : store_(store), files_(files), may_exec_(may_exec) {
'''),('''            register_definition_handlers(
                handlers, parse_definition_json(row->definition), is_given ? found->second : start_
            );
''','''            std::vector<Served> served{
                {parse_definition_json(row->definition), is_given ? found->second : start_}
            };
            refuse_exec(served, files_, may_exec_);
            register_definition_handlers(
                handlers, served.front().definition, served.front().directory
            );
'''),('    Store& store_;\n    std::map<std::string, std::filesystem::path> directories_;','    Store& store_;\n    std::vector<DefinitionFile> files_;\n    bool may_exec_;\n    std::map<std::string, std::filesystem::path> directories_;'),
('HandlerRegistry handlers_of(\n    Store& store, const std::vector<Served>& served, const std::vector<DefinitionFile>& files\n) {','HandlerRegistry handlers_of(\n    Store& store,\n    const std::vector<Served>& served,\n    const std::vector<DefinitionFile>& files,\n    bool may_exec\n) {'),
('std::make_shared<LaterHandlers>(store, files)','std::make_shared<LaterHandlers>(store, files, may_exec)'),
('std::vector<Served> served_workflows(','''bool may_exec(Session& session, bool is_allowed) {
    return is_allowed || session.streams().environment("EBB_ALLOW_EXEC").value_or("") == "1";
}

std::vector<RefusedExec> refuse_exec(
    std::vector<Served>& served, const std::vector<DefinitionFile>& files, bool is_allowed
) {
    std::vector<RefusedExec> refused;
    if (is_allowed) return refused;
    const auto is_given = [&](const std::string& name, const Payload& spec) {
        return std::any_of(files.begin(), files.end(), [&](const DefinitionFile& file) {
            const auto found = file.definition.handlers.find(name);
            return found != file.definition.handlers.end() &&
                   Json::parse(found->second, nullptr, false) == Json::parse(spec, nullptr, false);
        });
    };
    for (Served& one : served) {
        std::erase_if(one.definition.handlers, [&](const auto& entry) {
            const auto& [name, spec] = entry;
            const Json json = Json::parse(spec, nullptr, false);
            // What is not surely harmless is refused.
            const bool is_http = json.is_object() && json.contains("http") && !json.contains("exec");
            if (is_http || is_given(name, spec)) return false;
            refused.push_back({one.definition.name, one.definition.version, name});
            return true;
        });
    }
    return refused;
}

std::vector<Served> served_workflows('''),
('#include "store/store.h"\n','#include "store/store.h"\n#include "support/json.h"\n'))
ed('command_worker.cpp',('          known_handlers_(handlers_of(session.any_store(), served, files)),','          known_handlers_(handlers_of(\n              session.any_store(), served, files, may_exec(session, options.may_exec)\n          )),'),
('    Worker worker(session, options, served_workflows(store, files), files);\n','''    std::vector<Served> served = served_workflows(store, files);
    const auto refused = refuse_exec(served, files, may_exec(session, options.may_exec));
    Worker worker(session, options, served, files);
    worker.tell_refused(refused);
'''),('              {.worker_id = options.id,','              {.worker_id = options.id.empty() ? process_worker_id() : options.id,'),
('    int go() {\n        const auto caught','''    /// Not an error: other workers may be allowed to run them.
    void tell_refused(const std::vector<RefusedExec>& refused) {
        for (const RefusedExec& each : refused) {
            const std::vector<LogField> fields{
                {"workflow", each.workflow},
                {"version", each.version},
                {"handler", each.handler},
                {"hint", "give the workflow's file, or --allow-exec"},
            };
            log_.write(LogLevel::Warning, "exec_refused", fields);
        }
    }

    int go() {
        const auto caught'''),('#include "cli/draining.h"\n','#include "cli/draining.h"\n#include "cli/process_mark.h"\n'))
ed('app_workflows.cpp',('''    add_priority(run, run_.priority);
    run->add_option("--by"''','''    add_priority(run, run_.priority);
    run->add_flag("--allow-exec", run_.may_exec, kAllowExecHelp);
    run->add_option("--by"'''),('    worker->add_flag("-v,--verbose"','    worker->add_flag("--allow-exec", worker_.may_exec, kAllowExecHelp);\n    worker->add_flag("-v,--verbose"'),
('constexpr int kThreadsMax = 4\'096;','constexpr const char* kAllowExecHelp =\n    "Also run programs that only the database names ($EBB_ALLOW_EXEC=1)";\nconstexpr int kThreadsMax = 4\'096;'))
