// A control connection may be silent for long: its peer's machine may vanish meanwhile.
#pragma once

namespace longhaul::workloads {

/// Makes the kernel probe a silent peer and give up on it after about 30 s.
void keep_alive(int fd);

}  // namespace longhaul::workloads
