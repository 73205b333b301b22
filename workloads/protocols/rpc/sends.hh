// A ring of places for messages that go out over a connection. A place is used again when the adapter is through with
// it: its completion has been taken. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

namespace longhaul::workloads::rpc {

class SendRing {
 public:
  SendRing(std::size_t begin, std::size_t stride, std::size_t slots) : begin_(begin), stride_(stride), slots_(slots) {}

  bool full() const { return taken_ - retired_ == slots_; }
  /// The offset of the next place. Not where it is full().
  std::size_t take() { return begin_ + taken_++ % slots_ * stride_; }
  /// The oldest place is free again.
  void retire() { ++retired_; }

 private:
  std::size_t begin_;
  std::size_t stride_;
  std::size_t slots_;
  std::uint64_t taken_ = 0;
  std::uint64_t retired_ = 0;
};

}  // namespace longhaul::workloads::rpc
