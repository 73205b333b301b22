#include "workloads/suite/registration_cost/kernel.hh"

#include <fcntl.h>
#include <sys/ioctl.h>

#include <cstring>

#include "common/error.hh"
#include "workloads/harness/session.hh"
#include "workloads/suite/registration_cost/method.hh"

namespace longhaul::workloads::registration_cost {
namespace {

constexpr std::uint32_t kBatch = 16;

// Many at a time inside the kernel, handed out one by one.
class InKernel final : public Method {
 public:
  InKernel(KernelModule module, std::string device, std::size_t size, bool fast)
      : module_(std::move(module)),
        device_(std::move(device)),
        size_(size),
        operation_(fast ? LONGHAUL_REG_FAST : LONGHAUL_REG_EACH) {}

  Times once() override {
    if (next_ == batch_.first.size()) {
      batch_ = module_.run(operation_, size_, kBatch, device_);
      next_ = 0;
    }
    const auto at = next_++;
    return {{}, Nanoseconds{batch_.first[at]}, Nanoseconds{batch_.second[at]}};
  }

 private:
  KernelModule module_;
  std::string device_;
  std::size_t size_;
  longhaul_reg_operation operation_;
  KernelModule::Halves batch_;
  std::size_t next_ = 0;
};

}  // namespace

std::optional<KernelModule> KernelModule::open() {
  OwnFd fd{::open(LONGHAUL_REG_PATH, O_RDWR | O_CLOEXEC)};
  if (!fd) return std::nullopt;
  return KernelModule{std::move(fd)};
}

KernelModule::Halves KernelModule::run(longhaul_reg_operation operation, std::size_t bytes, std::uint32_t iterations,
                                       const std::string& device, const void* address) const {
  Halves halves{std::vector<std::uint64_t>(iterations), std::vector<std::uint64_t>(iterations)};
  longhaul_reg_request request{};
  if (device.size() >= sizeof request.device) throw Unsupported(device + " is too long a name for longhaul_reg");
  std::memcpy(request.device, device.data(), device.size());
  request.operation = operation;
  request.iterations = iterations;
  request.bytes = bytes;
  request.address = reinterpret_cast<std::uint64_t>(address);
  request.first_times = reinterpret_cast<std::uint64_t>(halves.first.data());
  request.second_times = reinterpret_cast<std::uint64_t>(halves.second.data());
  if (::ioctl(fd_.get(), LONGHAUL_REG_RUN, &request) == 0) return halves;
  if (errno == EOPNOTSUPP)
    throw Unsupported(device + " registers nothing in the kernel without a connection (iWARP): take an RoCE device");
  if (errno == EINVAL && !device.empty())
    throw Unsupported(fmt::format("{} bytes are more than {} registers in the kernel at a time", bytes, device));
  throw_errno(fmt::format("register {} bytes in the kernel (longhaul_reg)", bytes));
}

std::unique_ptr<Method> make_kernel(const Adapter& adapter, std::size_t size, bool fast) {
  auto module = KernelModule::open();
  if (!module)
    throw Unsupported("the kernel module longhaul_reg is not here (" LONGHAUL_REG_PATH "): only the lab has it");
  auto method = std::make_unique<InKernel>(std::move(*module), adapter.device.name, size, fast);
  return method;
}

}  // namespace longhaul::workloads::registration_cost
