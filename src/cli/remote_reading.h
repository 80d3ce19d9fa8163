#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/api_call.h"
#include "cli/client.h"

namespace ebb::cli {

/// The part of the client of a server that looks.
class RemoteReading : public Client {
 public:
    RemoteReading(ServerAddress address, std::string token)
        : calls_(std::move(address), std::move(token)) {}

    std::optional<InstanceSummary> find(const InstanceId& id) override;
    std::optional<InstanceId> find_key(std::string_view workflow, std::string_view key) override;
    InstanceView show(const InstanceId& id) override;
    std::vector<InstanceSummary> list(const ListOptions& options) override;
    std::vector<view::Outline> outlines(const ListOptions& options) override;
    OutlinePage outline_page(const ListOptions& options) override;
    InstancePage list_page(const ListOptions& options) override;
    std::vector<InstanceCount> count(const ListOptions& options) override;
    std::vector<HistoryEntry> history(const InstanceId& id, std::int64_t after, int limit) override;
    std::string why(const InstanceId& id) override;
    std::vector<InstanceCount> stats() override;
    Workflows workflows() override;
    bool has_workflow(const std::string& name) override;
    std::shared_ptr<const Definition> definition(
        std::string_view workflow, std::optional<int> version
    ) override;
    std::vector<AwaitedDecision> decisions(const DecisionQuery& query) override;
    FailureGroups failures(const FailureGroupQuery& query) override;
    std::vector<FailedInstance> failed_instances(const FailureQuery& query) override;
    std::vector<WorkerView> workers() override;
    std::vector<UnservedTasks> unserved() override;
    Delayed delayed() override;
    std::vector<QueueView> queues() override;

 protected:
    ApiCalls& calls() { return calls_; }

 private:
    std::optional<InstanceSummary> find_path(const std::string& path);

    ApiCalls calls_;
    std::string found_path_;
    std::string found_etag_;
    std::optional<InstanceSummary> found_;
};

}  // namespace ebb::cli
