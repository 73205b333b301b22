// One UCX endpoint with a worker of its own. Messages are tagged sends; writes and reads are put and get.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "common/fd.hh"
#include "workloads/transport/connection.hh"
#include "workloads/transport/memory.hh"
#include "workloads/transport/plan.hh"
#include "workloads/transport/ucx/library.hh"
#include "workloads/transport/wait.hh"

namespace longhaul::workloads::ucx {

/// The choice of UCX's own transports and devices. `tls` and `devices` are its variables UCX_TLS and
/// UCX_NET_DEVICES.
struct Choice {
  std::string transport;  ///< of longhaul: ucx, ucx_tcp
  std::string provider;
  std::string device;
  std::string tls;
  std::string devices;
};

class UcxConnection final : public Connection {
 public:
  /// `fd` is a connected TCP socket: the two ends exchange their addresses over it, and it tells of the peer's end.
  static Attempt<std::unique_ptr<UcxConnection>> open(OwnFd fd, const Choice& choice, const ConnectionPlan& plan,
                                                      const Patience& patience);
  ~UcxConnection() override;

  const std::vector<Capability>& capabilities() const override;
  TransportFacts facts() const override;
  std::map<std::string, double> counters() const override { return {}; }
  bool counts_device() const override { return false; }
  std::vector<std::string> limits() const override { return {}; }
  std::span<std::byte> memory() override { return memory_.bytes(); }

  void post(const Request& request) override;
  void post_receive(std::size_t offset, std::size_t length) override;
  std::size_t poll(std::span<Completion> out) override;

  bool arm() override;
  int event_fd() const override { return event_fd_; }
  std::uint32_t wait_events() const override;
  void check_alive() override;

 private:
  /// A request under way; UCX knows it by its address until it is done.
  struct Pending {
    Completion completion;
    bool wanted = true;                            ///< the caller hears of it
    std::optional<std::uint64_t> confirm_at = {};  ///< a write of which the caller hears once it is in place: where
    bool done = false;
    ucs_status_t status = UCS_OK;
    void* request = nullptr;  ///< UCX's, while it is under way
  };
  using Operations = std::deque<Pending>;

  UcxConnection(OwnFd fd, const Library& library, Choice choice, const ConnectionPlan& plan)
      : calls_(library), fd_(std::move(fd)), choice_(std::move(choice)), memory_(total_memory(plan)) {}
  Attempt<void> create_worker();
  Attempt<void> meet_peer(const Patience& patience);
  Attempt<void> exchange_hello(const Patience& patience);
  void begin(Pending& operation, void* request);
  void confirm(Pending& operation);
  void settle(Pending& operation);
  void confirm_writes();
  std::size_t take_done(Operations& operations, std::span<Completion> out);
  [[noreturn]] void fail(const char* attempted, ucs_status_t status) const;

  static void on_sent(void* request, ucs_status_t status, void* user);
  static void on_received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info, void* user);
  static void on_broken(void* user, ucp_ep_h endpoint, ucs_status_t status);

  const Library& calls_;
  OwnFd fd_;
  Choice choice_;
  Memory memory_;
  ucp_context_h context_ = nullptr;
  ucp_worker_h worker_ = nullptr;
  ucp_mem_h region_ = nullptr;
  ucp_ep_h endpoint_ = nullptr;
  ucp_rkey_h peer_key_ = nullptr;
  std::uint64_t peer_memory_ = 0;
  int event_fd_ = -1;
  ucs_status_t broken_ = UCS_OK;
  std::uint32_t depth_ = 0;
  Operations sends_;  // in the order in which they were posted: so they complete
  Operations receives_;
  Operations hello_;  // while the two ends connect
  std::array<char, 2> hello_bytes_{};
  std::size_t confirming_ = 0;  // so many of the sends, from the first on, are done or are being confirmed
  char confirmed_ = 0;          // what confirming reads have brought
};

}  // namespace longhaul::workloads::ucx
