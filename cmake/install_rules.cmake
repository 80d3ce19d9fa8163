# Filled in by the packaging work: targets in the global property EBB_INSTALL_TARGETS, find_package(ebb), ebb.pc.
