#include <algorithm>
#include <utility>

#include "store/memory/memory_store.h"

// The verbs about mail.

namespace ebb {

std::vector<SendResult> MemoryStore::send(std::span<const Mail> mail) {
    const Lock lock(mutex_);
    std::vector<SendResult> results;
    results.reserve(mail.size());
    for (const Mail& each : mail) results.push_back(send_one(each));
    return results;
}

SendResult MemoryStore::send_one(const Mail& mail) {
    const auto addressee = instances_.find(mail.to);
    if (addressee == instances_.end()) return SendResult::NotFound;
    const InstanceRow& row = addressee->second.row;
    if (is_terminal(row.status)) return SendResult::Ended;
    std::vector<Mail>& unread = mail_[mail.to];
    const bool is_known = std::any_of(unread.begin(), unread.end(), [&](const Mail& each) {
        return each.key == mail.key;
    });
    if (is_known) return SendResult::Known;
    Mail& added = unread.emplace_back(mail);
    added.at = clock_.now();
    if (unread.size() > 1) added.at = std::max(added.at, unread[unread.size() - 2].at + kTick);
    wake_for_mail(row);
    return SendResult::Sent;
}

void MemoryStore::wake_for_mail(const InstanceRow& row) {
    const TaskRef ref{.instance = row.id, .token = kMailTask};
    const TimePoint now = clock_.now();
    const bool is_there = tasks_.update(ref, [&](memory::Task& task) {
        if (task.is_due) return;
        task.due = now;
        task.rank = rank_of(now, row.priority);
        task.is_due = true;
    });
    if (is_there) return;
    memory::Task task;
    task.ref = ref;
    task.handler = kEngineHandler;
    task.queue = kDefaultQueue;
    task.due = now;
    task.rank = rank_of(now, row.priority);
    task.is_due = true;
    tasks_.put(std::move(task));
}

void MemoryStore::receive(const InstanceRow& row, std::span<const MailKey> received) {
    if (received.empty()) return;
    std::vector<Mail>& unread = mail_[row.id];
    std::erase_if(unread, [&](const Mail& each) {
        return std::find(received.begin(), received.end(), each.key) != received.end();
    });
    tasks_.remove({.instance = row.id, .token = kMailTask});
    if (unread.empty()) {
        mail_.erase(row.id);
    } else {
        wake_for_mail(row);
    }
}

void MemoryStore::read_mail(Claim& claim) const {
    const auto unread = mail_.find(claim.task.instance);
    if (unread == mail_.end()) return;
    std::int64_t bytes = 0;
    for (const Mail& each : unread->second) {
        if (std::ssize(claim.mail) == kMailReadMax || bytes >= kMailReadBytesMax) {
            claim.has_more_mail = true;
            return;
        }
        claim.mail.push_back(each);
        bytes += std::ssize(each.body);
    }
}

std::int64_t MemoryStore::drop_mail(const InstanceId& ended) {
    const Lock lock(mutex_);
    const auto instance = instances_.find(ended);
    if (instance == instances_.end() || !is_terminal(instance->second.row.status)) return 0;
    tasks_.remove({.instance = ended, .token = kMailTask});
    const auto unread = mail_.find(ended);
    if (unread == mail_.end()) return 0;
    const std::int64_t count = std::ssize(unread->second);
    mail_.erase(unread);
    return count;
}

}  // namespace ebb
