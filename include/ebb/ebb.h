#pragma once

// The whole library at once, ready for typed handlers. Include <nlohmann/json.hpp> too where you
// use ebb::Json. Components that need third-party libraries have headers of their own: <ebb/yaml.h>
// (ebb::yaml) and <ebb/handlers.h> (ebb::handlers).

#include <ebb/builder.h>
#include <ebb/clock.h>
#include <ebb/compensated.h>
#include <ebb/completion.h>
#include <ebb/context.h>
#include <ebb/definition.h>
#include <ebb/engine.h>
#include <ebb/error.h>
#include <ebb/fields.h>
#include <ebb/handler.h>
#include <ebb/id.h>
#include <ebb/instance.h>
#include <ebb/log.h>
#include <ebb/move.h>
#include <ebb/observer.h>
#include <ebb/queue.h>
#include <ebb/retention.h>
#include <ebb/rules.h>
#include <ebb/rules_builder.h>
#include <ebb/snapshot_store.h>
#include <ebb/stateless.h>
#include <ebb/status.h>
#include <ebb/store.h>
#include <ebb/stored_run.h>
#include <ebb/time.h>
#include <ebb/transaction.h>
#include <ebb/triage.h>
