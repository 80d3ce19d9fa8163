#pragma once

#include "store/conformance.h"

/// Runs the whole conformance suite against one StoreKind.
#define EBB_INSTANTIATE_STORE_TESTS(name, kind)                                \
    INSTANTIATE_TEST_SUITE_P(name, StoreConformance, ::testing::Values(kind)); \
    INSTANTIATE_TEST_SUITE_P(name, StoreHistory, ::testing::Values(kind));     \
    INSTANTIATE_TEST_SUITE_P(name, StoreList, ::testing::Values(kind));        \
    INSTANTIATE_TEST_SUITE_P(name, StoreMail, ::testing::Values(kind));        \
    INSTANTIATE_TEST_SUITE_P(name, StoreQueues, ::testing::Values(kind));      \
    INSTANTIATE_TEST_SUITE_P(name, StoreRepeat, ::testing::Values(kind));      \
    INSTANTIATE_TEST_SUITE_P(name, StoreStarted, ::testing::Values(kind))
