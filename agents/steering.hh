// Cleaning up what a killed workload process left in the kernel.
#pragma once

namespace longhaul::agents {

/// Has the service behind kSteeringPipe take all receive packet steering away. Where there is none, nothing was
/// steered.
void end_steering();

}  // namespace longhaul::agents
