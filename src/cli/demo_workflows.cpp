#include "cli/demo_workflows.h"

#include <fmt/format.h>

#include <ebb/yaml.h>

namespace ebb::cli {

namespace {

constexpr const char* kFirstOrder = R"(workflow: order
version: 1
description: "Sells one basket: reserve, charge, ship."
input_schema:
  type: object
  required: [order, amount]
  properties:
    order: {type: string, title: Order number}
    amount: {type: number, minimum: 0, title: Amount}
    currency: {type: string, enum: [EUR, USD, GBP]}
steps:
  - {step: check_basket}
  - {step: reserve, compensate: release, queue: stock}
  - {step: charge, compensate: refund, queue: payments, max_attempts: 4}
  - {step: ship, compensate: recall, max_attempts: 4}
  - {step: send_invoice, queue: mail}
)";

constexpr const char* kOrder = R"(workflow: order
version: 2
description: "Sells one basket: reserve, charge, pack and ship; large orders are approved."
input_schema:
  type: object
  required: [order, amount]
  properties:
    order: {type: string, title: Order number}
    amount: {type: number, minimum: 0, title: Amount}
    currency: {type: string, enum: [EUR, USD, GBP]}
    express: {type: boolean, title: Express delivery}
steps:
  - {step: check_basket}
  - {step: reserve, compensate: release, queue: stock}
  - {step: charge, compensate: refund, queue: payments, max_attempts: 4}
  - condition: is_large
    when: workflow.input.amount > 1000
    then:
      - {decision: approve, roles: [finance], deadline: 7d, on_deadline: reject}
  - parallel: fulfil
    branches:
      parcel:
        - {step: pack, compensate: unpack, queue: stock}
        - {step: ship, compensate: recall, max_attempts: 4}
      papers:
        - {step: print_invoice}
        - {step: send_invoice, queue: mail}
  - {step: close_order}
)";

constexpr const char* kExpenses = R"(workflow: expenses
version: 2
description: Pays back what people have spent.
on_error: dead_letter
steps:
  - {step: read_receipts}
  - {decision: manager, roles: [manager], deadline: 10d, description: Is this expense fine?}
  - condition: is_large
    when: workflow.input.amount > 500
    then:
      - {decision: finance, roles: [finance], quorum: 2, deadline: 10d}
  - {step: pay_out, queue: payments, max_attempts: 3}
  - {step: book}
)";

constexpr const char* kOnboarding = R"(workflow: onboarding
version: 1
description: "A new colleague gets accounts, devices and a desk."
steps:
  - {step: create_account, compensate: delete_account}
  - parallel: prepare
    branches:
      laptop:
        - {step: order_laptop, compensate: cancel_laptop}
        - {signal: laptop_arrived}
      desk:
        - {step: book_desk, compensate: free_desk}
      payroll:
        - {step: register_payroll, compensate: sign_off_payroll}
  - {delay: until_first_day, for: 6d}
  - {step: welcome, queue: mail}
)";

constexpr const char* kReport = R"(workflow: nightly-report
version: 1
description: Gathers the figures of the day.
steps:
  - parallel: gather
    branches:
      sales:
        - {step: read_sales}
      stock:
        - {step: read_stock}
      web:
        - {step: read_web}
  - {step: render, max_attempts: 2}
  - {step: publish, queue: mail}
)";

constexpr const char* kShipment = R"(workflow: shipment
version: 1
description: Moves a parcel abroad.
on_error: dead_letter
steps:
  - {step: label, compensate: void_label}
  - {step: ship_abroad, compensate: recall, queue: carriers}
  - {signal: customs_cleared}
  - {step: notify, queue: mail}
)";

std::vector<Definition> parsed(const std::vector<const char*>& texts) {
    std::vector<Definition> versions;
    for (const char* text : texts) versions.push_back(parse_definition_yaml(text, "demo.yaml"));
    return versions;
}

std::vector<DemoWorkflow> make_workflows() {
    return {
        {.versions = parsed({kFirstOrder, kOrder}),
         .share = 60,
         .failures =
             {{"charge", "card_declined", "The bank declined the card: insufficient funds", true, 30
              },
              {"charge", "http_503", "POST /charge answered 503 Service Unavailable", false, 14},
              {"ship", "timeout", "The carrier did not answer within 30s", false, 8},
              {"reserve", "out_of_stock", "Article 4711 is out of stock", true, 5}}},
        {.versions = parsed({kExpenses}),
         .share = 14,
         .failures =
             {{"pay_out", "iban_invalid", "The account DE00 1234 5678 9012 does not exist", true, 9
              },
              {"book", "http_500", "POST /entries answered 500 Internal Server Error", false, 4}}},
        {.versions = parsed({kOnboarding}),
         .share = 6,
         .failures =
             {{"register_payroll", "tax_id_missing", "The field tax_id is required", true, 1}}},
        {.versions = parsed({kReport}),
         .share = 8,
         .failures = {{"render", "exit_137", "\"render-pdf\" was killed: out of memory", false, 1}}
        },
        {.versions = parsed({kShipment}),
         .share = 12,
         .failures = {{"label", "address_unknown", "There is no such street in Zurich", true, 1}}},
    };
}

}  // namespace

std::uint64_t DemoDice::next() {
    // SplitMix64.
    std::uint64_t mixed = state_ += 0x9e3779b97f4a7c15ULL;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebULL;
    return mixed ^ (mixed >> 31U);
}

int DemoDice::between(int least, int most) {
    const auto count = static_cast<std::uint64_t>(most - least + 1);
    return least + static_cast<int>(next() % count);
}

const std::vector<DemoWorkflow>& demo_workflows() {
    static const std::vector<DemoWorkflow> workflows = make_workflows();
    return workflows;
}

DemoStart demo_start(const std::string& workflow, DemoDice& dice, int number) {
    DemoStart start;
    if (workflow == "order") {
        start.key = fmt::format("SO-{}", 20'000 + number);
        start.input = {
            {"order", start.key},
            {"amount", dice.is(12) ? dice.between(1'001, 2'400) : dice.between(9, 900)},
            {"currency", dice.pick<std::string>({"EUR", "EUR", "USD", "GBP"})},
            {"express", dice.is(20)},
        };
    } else if (workflow == "expenses") {
        start.key = fmt::format("EX-{}", 900 + number);
        start.input = {
            {"report", start.key},
            {"person", dice.pick<std::string>({"Ann Becker", "João Silva", "Мария Иванова", "Ben"})
            },
            {"amount", dice.between(12, 1'200)},
            {"purpose", dice.pick<std::string>({"Train to Lyon", "Team dinner", "Conference"})},
        };
    } else if (workflow == "onboarding") {
        start.input = {
            {"person",
             dice.pick<std::string>({"Lena Vogel", "Tiago Reis", "Ivan Petrov", "Mei Lin"})},
            {"team", dice.pick<std::string>({"Payments", "Search", "Platform"})},
        };
    } else if (workflow == "shipment") {
        start.key = fmt::format("P{}", 70'000 + number);
        start.input = {
            {"parcel", start.key},
            {"country", dice.pick<std::string>({"CH", "NO", "GB", "US"})},
            {"weight_g", dice.between(200, 9'000)},
        };
    } else {
        start.input = {{"report", "figures of the day"}};
    }
    return start;
}

}  // namespace ebb::cli
