// The worker: one device, the candidate's libraries, and the executions that the parent asks for.
#pragma once

namespace kfp {

// Serves requests on `channel` until the parent says quit or is gone. Returns the process's exit status.
int serve(int channel) noexcept;

}  // namespace kfp
