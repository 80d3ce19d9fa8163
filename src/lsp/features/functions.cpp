#include "lsp/features/functions.h"

#include <array>

namespace ebb::lsp {

namespace {

constexpr auto kFunctions = std::to_array<FunctionText>({
    {"size", false, "size(x)", "Characters of a string, elements of a list, entries of a map."},
    {"int",
     false,
     "int(x)",
     "From uint, double (truncated toward zero), a decimal string, or a timestamp (seconds since "
     "1970)."},
    {"uint", false, "uint(x)", "From int, double, or a decimal string."},
    {"double", false, "double(x)", "From int, uint, or a string."},
    {"string", false, "string(x)", "From int, uint, double, bool, timestamp, duration."},
    {"bool", false, "bool(x)", "From a string such as \"true\" or \"0\"."},
    {"dyn", false, "dyn(x)", "x itself."},
    {"timestamp", false, "timestamp(x)", "From an RFC 3339 string, or an int (seconds since 1970)."
    },
    {"duration", false, "duration(x)", "From a string such as \"1h30m\", \"-2.5s\", \"100ms\"."},
    {"matches", false, "matches(s, pattern)", "Whether any part of s matches the RE2 pattern."},
    {"size", true, "x.size()", "Characters of a string, elements of a list, entries of a map."},
    {"contains", true, "s.contains(t)", "Whether s contains t."},
    {"startsWith", true, "s.startsWith(t)", "Whether s begins with t."},
    {"endsWith", true, "s.endsWith(t)", "Whether s ends with t."},
    {"matches", true, "s.matches(pattern)", "Whether any part of s matches the RE2 pattern."},
    {"charAt", true, "s.charAt(i)", "The character at index i; empty at the end."},
    {"indexOf", true, "s.indexOf(t, from?)", "The first position of t, or -1."},
    {"lastIndexOf",
     true,
     "s.lastIndexOf(t, from?)",
     "The last position of t that is not after from, or -1."},
    {"substring",
     true,
     "s.substring(from, to?)",
     "The part from `from` up to, but not including, `to`."},
    {"lowerAscii", true, "s.lowerAscii()", "s with A-Z in lower case."},
    {"upperAscii", true, "s.upperAscii()", "s with a-z in upper case."},
    {"trim", true, "s.trim()", "s without white space at both ends."},
    {"replace",
     true,
     "s.replace(t, u, n?)",
     "s with every t, or the first n of them, replaced by u."},
    {"split", true, "s.split(t, n?)", "The parts between the ts; at most n parts."},
    {"join", true, "list.join(t?)", "The strings of a list, joined with t."},
    {"getFullYear", true, "t.getFullYear(zone?)", "The year."},
    {"getMonth", true, "t.getMonth(zone?)", "The month, from 0."},
    {"getDate", true, "t.getDate(zone?)", "The day of the month, from 1."},
    {"getDayOfMonth", true, "t.getDayOfMonth(zone?)", "The day of the month, from 0."},
    {"getDayOfWeek", true, "t.getDayOfWeek(zone?)", "The day of the week, 0 = Sunday."},
    {"getDayOfYear", true, "t.getDayOfYear(zone?)", "The day of the year, from 0."},
    {"getHours",
     true,
     "t.getHours(zone?)",
     "The hours of the time of day; of a duration all its hours."},
    {"getMinutes",
     true,
     "t.getMinutes(zone?)",
     "The minutes of the time of day; of a duration all its minutes."},
    {"getSeconds",
     true,
     "t.getSeconds(zone?)",
     "The seconds of the time of day; of a duration all its seconds."},
    {"getMilliseconds", true, "t.getMilliseconds(zone?)", "The milliseconds."},
    {"has", false, "has(e.name)", "Whether the map e has the field."},
    {"all", true, "list.all(x, condition)", "Whether the condition holds for every element."},
    {"exists", true, "list.exists(x, condition)", "Whether the condition holds for any element."},
    {"exists_one",
     true,
     "list.exists_one(x, condition)",
     "Whether the condition holds for exactly one element."},
    {"filter",
     true,
     "list.filter(x, condition)",
     "The list of the elements for which the condition holds."},
    {"map", true, "list.map(x, value)", "The list of the values."},
});

constexpr auto kVariables = std::to_array<FunctionText>({
    {"input", false, "input", "The input of the current step or block."},
    {"workflow", false, "workflow", "workflow.input, workflow.name and workflow.version."},
    {"steps", false, "steps", "steps.NAME.output: the output of a completed step."},
    {"instance", false, "instance", "instance.id and instance.key."},
    {"attempt", false, "attempt", "The number of the attempt, from 1."},
    {"now", false, "now", "The time of the decision, as a string: use timestamp(now)."},
    {"metadata", false, "metadata", "The metadata of the node that the expression belongs to."},
});

}  // namespace

std::span<const FunctionText> function_texts() {
    return kFunctions;
}

std::span<const FunctionText> variable_texts() {
    return kVariables;
}

}  // namespace ebb::lsp
