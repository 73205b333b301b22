// Ctrl-C and SIGTERM as a question that is polled: the first asks for an orderly end, the second ends at once.
#pragma once

namespace longhaul::orchestrator {

/// From now on SIGINT and SIGTERM are remembered once; a second one has its default effect.
void watch_interrupts();

bool interrupted();

}  // namespace longhaul::orchestrator
