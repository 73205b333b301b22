// The verbs transport: one reliable queue pair over rdma_cm with a completion queue and a memory region of its own.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <optional>

#include "model/units.hh"
#include "workloads/transport/connection.hh"
#include "workloads/transport/memory.hh"
#include "workloads/transport/plan.hh"
#include "workloads/transport/verbs/cm.hh"
#include "workloads/transport/verbs/device.hh"
#include "workloads/transport/verbs/owners.hh"
#include "workloads/transport/verbs/registrar.hh"
#include "workloads/transport/verbs/windows.hh"

namespace longhaul::workloads {

class VerbsConnection final : public Connection, private LocalRequests {
 public:
  /// Builds all that one end needs on an id whose device is resolved, and posts the plan's receives. `channel` is the
  /// id's. Refuses what the device lacks; throws std::system_error when a verbs call fails.
  static Attempt<std::unique_ptr<VerbsConnection>> open(EventChannel channel, CmId id, const RdmaDevice& device,
                                                        const ConnectionPlan& plan, Nanoseconds rtt);
  ~VerbsConnection() override;

  /// This end's introduction, for the private data.
  Introduction introduction(std::uint64_t session, std::uint16_t lane) const;
  /// The connection request's parameters but for the private data. `limit` is the peer's wish; 0: none known.
  rdma_conn_param parameters(std::uint8_t responder_limit = 0, std::uint8_t initiator_limit = 0) const;
  void set_peer(const Introduction& peer) { peer_ = peer; }
  rdma_cm_id* id() const { return id_.get(); }
  rdma_event_channel* channel() const { return channel_.get(); }

  const std::vector<Capability>& capabilities() const override { return offers_; }
  TransportFacts facts() const override;
  std::map<std::string, double> counters() const override;
  bool counts_device() const override { return true; }
  std::vector<std::string> limits() const override;
  std::span<std::byte> memory() override { return memory_.bytes(); }
  registration::Registrar* registrar() override { return &*registrar_; }
  registration::Registrar* windows() override { return windows_ ? &*windows_ : nullptr; }
  registration::Keys keys() const override { return {region_->lkey, region_->rkey}; }

  void post(const Request& request) override;
  void post_receive(std::size_t offset, std::size_t length) override;
  std::size_t poll(std::span<Completion> out) override;

  bool arm() override;
  int event_fd() const override { return completion_channel_->fd; }
  std::uint32_t wait_events() const override;
  void check_alive() override;

 private:
  static constexpr std::size_t kChain = 4;

  VerbsConnection(EventChannel channel, CmId id, const RdmaDevice& device, const ConnectionPlan& plan, Nanoseconds rtt);
  void create_queue_pair(const ConnectionPlan& plan, Nanoseconds rtt, const ibv_device_attr& limits);
  std::uint64_t post_local(const ibv_send_wr& work, bool signaled, bool more) override;
  std::uint64_t completed() const override { return retired_; }
  void make_room();
  void number(ibv_send_wr& work, bool signaled, bool asked);
  void append(bool more);
  void submit();
  void harvest();
  [[noreturn]] void throw_completion(const ibv_wc& completion) const;

  RdmaDevice device_;
  std::vector<Capability> offers_;
  EventChannel channel_;
  CmId id_;
  std::shared_ptr<ProtectionDomain> domain_;
  std::shared_ptr<CompletionQueue> invalid_key_;  ///< siw's (siw_keys.hh)
  CompletionChannel completion_channel_;
  CompletionQueue queue_;
  Memory memory_;
  MemoryRegion region_;
  std::optional<VerbsRegistrar> registrar_;
  QueuePair queue_pair_;
  std::optional<VerbsWindows> windows_;
  Introduction peer_;

  std::size_t message_ = 0;  // the largest
  std::uint32_t depth_ = 0;
  std::uint32_t inline_size_ = 0;
  std::uint8_t read_depth_ = 1;
  std::uint64_t posted_ = 0;   // requests so far
  std::uint64_t retired_ = 0;  // of them, known to be complete
  std::uint64_t last_signaled_ = 0;
  std::array<ibv_send_wr, kChain> chain_{};
  std::array<ibv_sge, kChain> pieces_{};
  std::size_t chained_ = 0;
  std::deque<Completion> ready_;  // harvested, not yet given out
  bool news_ = false;             // something was harvested since the caller last asked
  bool armed_ = false;
  unsigned unacknowledged_ = 0;
};

}  // namespace longhaul::workloads
