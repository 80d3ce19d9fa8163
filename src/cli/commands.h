#pragma once

#include <string>

#include "cli/options.h"
#include "cli/session.h"

// One function per command. It returns the exit code and throws Error for what it cannot do.

namespace ebb::cli {

int run_workflow(Session& session, const RunOptions& options);
int validate_files(Session& session, const ValidateOptions& options);
int serve_editor(Session& session, const LspOptions& options);
int draw_diagram(Session& session, const DiagramCommandOptions& options);
int start_instance(Session& session, const StartCommandOptions& options);
int run_worker(Session& session, const WorkerOptions& options);

int count_instances(Session& session, const CountOptions& options);
int list_instances(Session& session, const ListCommandOptions& options);
int show_instance(Session& session, const ShowOptions& options);
int show_history(Session& session, const HistoryOptions& options);
int show_trace(Session& session, const TraceOptions& options);
int explain_instances(Session& session, const std::vector<std::string>& instances);
int list_workflows(Session& session, const WorkflowsOptions& options);
int wait_for_instance(Session& session, const WaitOptions& options);
int print_result(Session& session, const ResultOptions& options);
int rerun_instance(Session& session, const RerunOptions& options);

int cancel_instance(Session& session, const SteerOptions& options);
int abort_instance(Session& session, const SteerOptions& options);
int pause_instance(Session& session, const SteerOptions& options);
int resume_instance(Session& session, const SteerOptions& options);
int rematch_instance(Session& session, const SteerOptions& options);
int decide_instance(Session& session, const DecideOptions& options);
int signal_instance(Session& session, const SignalOptions& options);
int write_attributes(Session& session, const WriteCommandOptions& options);
int recover_instance(Session& session, const RecoverCommandOptions& options);
int requeue_instance(Session& session, const RequeueCommandOptions& options);

int export_instance(Session& session, const ExportCommandOptions& options);
int import_snapshot(Session& session, const ImportCommandOptions& options);
int manage_queues(Session& session, const QueueOptions& options);
int list_workers(Session& session);
int list_decisions(Session& session, const DecisionsOptions& options);
int list_delayed(Session& session, const DelayedOptions& options);
int list_failures(Session& session, const FailuresOptions& options);
int manage_retention(Session& session, const RetentionCommandOptions& options);
int purge_instances(Session& session, const PurgeCommandOptions& options);

int migrate_database(Session& session, const MigrateOptions& options);

/// Prints candidates, one in each line: the word, a tab and what it is. Prints nothing instead of
/// errors.
int complete_word(Session& session, const CompleteOptions& options);

int show_version(Session& session);

}  // namespace ebb::cli
