#include "workloads/suite/rpc/kernel.hh"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "common/well_known.hh"
#include "workloads/protocols/rpc/kernel.hh"
#include "workloads/protocols/rpc/private_data.hh"

namespace longhaul::workloads::rpc {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostTarget = nfs::kMostPath - 1;  // symlink(2) counts the byte 0 behind it
constexpr std::size_t kMostEntries = 2000;
constexpr std::size_t kEntry = 32;  // bytes of a result that an entry takes at the least

void write_content(const fs::path& path, std::uint64_t size) {
  std::vector<std::byte> content(size);
  fill_content(content, 0);
  std::ofstream{path, std::ios::binary}.write(reinterpret_cast<const char*>(content.data()),
                                              static_cast<std::streamsize>(size));
}

void compare_content(const fs::path& path, std::uint64_t size) {
  std::vector<std::byte> content(size);
  std::ifstream{path, std::ios::binary}.read(reinterpret_cast<char*>(content.data()),
                                             static_cast<std::streamsize>(size));
  if (const auto fault = content_fault(content, 0); !fault.empty()) throw std::runtime_error(fault);
}

// Linux's server ignores what its client can receive: it sends up to its own limit.
void check_sizes(const std::string& answer, std::size_t threshold) {
  const auto told = decode_private_data(std::as_bytes(std::span{answer}));
  const auto sizes = told.value_or(PrivateData{});
  if (sizes.receive < threshold || sizes.send > threshold)
    throw std::runtime_error(
        fmt::format("the kernel's NFS server takes messages of up to {} bytes and sends up to {}: give --inline {}",
                    sizes.receive, sizes.send, sizes.receive));
}

}  // namespace

std::string kernel_lacks(const Options& options) {
  if (options.mix) return "its server has no mix of calls: give --procedure read or write";
  if (options.clients > 1) return "only one connection goes to it: give --clients 1";
  if (options.design != Design::read_write) return "it never names its buffers: give --design read-write";
  if (options.procedure == nfs::Procedure::readlink && options.size > kMostTarget)
    return fmt::format("a link's target has at most {} bytes: give a smaller --size", kMostTarget);
  return {};
}

void serve_by_kernel(ServerSession& session, const Options& options) {
  const auto served = KernelNfs::serve(static_cast<std::int64_t>(options.server_threads));
  const fs::path root{kNfsExport};
  // A WRITE has to bring what is compared.
  if (options.procedure == nfs::Procedure::write)
    std::ofstream{root / "file"};
  else
    write_content(root / "file", options.file_size());
  fs::create_directory(root / "directory");
  if (options.procedure == nfs::Procedure::readdir)
    for (std::size_t i = 0; i < std::min(options.size / kEntry, kMostEntries); ++i)
      std::ofstream{root / "directory" / MemoryStore::name(i)};
  fs::create_symlink(MemoryStore::path(options.procedure == nfs::Procedure::readlink ? options.size : 1),
                     root / "link");
  session.prepared(fmt::format("{}", fmt::join(served.handles({"file", "directory", "link"}), " ")));
  session.serve({}, true);
  if (options.procedure == nfs::Procedure::read) compare_content(root / "file", options.file_size());
  // The first record of each thread is there at the least.
  if (options.procedure == nfs::Procedure::write) compare_content(root / "file", options.size);
}

KernelPeer meet_kernel(ClientSession& session, const Options& options, const ConnectionPlan& plan) {
  std::istringstream words{session.await_prepared()};
  std::string file, directory, link;
  if (!(words >> file >> directory >> link)) throw std::runtime_error("the server told no file handles");
  const Handles handles{.file = handle_of(file), .directory = handle_of(directory), .link = handle_of(link)};
  const auto threshold = static_cast<std::uint32_t>(options.threshold);
  const auto own =
      encode(PrivateData{.remote_invalidation = options.remote_invalidation, .send = threshold, .receive = threshold});
  auto foreign = session.dial(plan, session.streams() ? kNfsPort : kNfsRdmaPort,
                              {reinterpret_cast<const char*>(own.data()), own.size()});
  if (!session.streams()) check_sizes(foreign.answer, options.threshold);
  return {std::move(foreign.connection), handles};
}

}  // namespace longhaul::workloads::rpc
