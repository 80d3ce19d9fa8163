// How long it takes to compile and to evaluate small expressions (google-benchmark).

#include <string>

#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>

#include "core/expression/code.h"
#include "core/expression/expression.h"
#include "core/expression/parser.h"
#include "core/expression/template.h"

namespace {

class Input : public ebb::Variables {
 public:
    const ebb::Json* find(std::string_view name) const override {
        return name == "input" ? &input_ : nullptr;
    }

    const ebb::Json* find_step(std::string_view name) const override {
        return name == "pay" ? &step_ : nullptr;
    }

 private:
    ebb::Json input_ = ebb::Json::parse(
        R"({"amount": 250, "currency": "EUR", "customer": {"name": "Ada", "tags": ["vip", "eu"]},
            "items": [{"price": 10}, {"price": 20}, {"price": 30}, {"price": 40}]})"
    );
    ebb::Json step_ = ebb::Json::parse(R"({"output": {"id": "p-17"}})");
};

const char* const kSources[] = {
    "true",
    "input.amount > 100",
    "steps.pay.output.id == 'p-17'",
    "input.amount > 100 && input.currency in ['EUR', 'USD'] && 'vip' in input.customer.tags",
    "input.items.all(i, i.price > 5)",
    "'Hello ' + input.customer.name.upperAscii()",
    "input.missing > 1 || input.amount > 100",
};

void evaluate_bool_or_value(benchmark::State& state) {
    const char* source = kSources[state.range(0)];
    const ebb::Expression expression = ebb::Expression::compile(source);
    const Input input;
    for (auto _ : state) benchmark::DoNotOptimize(expression.evaluate(input));
    state.SetLabel(source);
}

void compile_afresh(benchmark::State& state) {
    const char* source = kSources[state.range(0)];
    for (auto _ : state) {
        ebb::expression::Code code;
        code.source = source;
        ebb::expression::Parser(code).run();
        benchmark::DoNotOptimize(code);
    }
    state.SetLabel(source);
}

void compile_cached(benchmark::State& state) {
    for (auto _ : state) benchmark::DoNotOptimize(ebb::Expression::compile(kSources[1]));
}

void render_template(benchmark::State& state) {
    const auto compiled = ebb::Template::compile(ebb::Json::parse(
        R"({"to": "${input.customer.name}", "text": "You pay ${input.amount} ${input.currency}."})"
    ));
    const Input input;
    for (auto _ : state) benchmark::DoNotOptimize(compiled.render(input));
}

BENCHMARK(evaluate_bool_or_value)->DenseRange(0, 6);
BENCHMARK(compile_afresh)->DenseRange(0, 6);
BENCHMARK(compile_cached);
BENCHMARK(render_template);

}  // namespace

BENCHMARK_MAIN();
