// Which records of a thread's are asked for before the thread wants them. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace longhaul::workloads::rpc {

/// A thread reads its records one after another, and behind the last the first again. Some of them are kept: the one
/// that it works at, and others that come before it wants them. Whenever half of the places are free they are filled,
/// so that one half is on its way while the thread works at the other.
class ReadAhead {
 public:
  /// Records that lie one behind another, by the number of the operation that wants them.
  struct Row {
    std::uint64_t first;
    std::size_t count;
  };

  /// `kept`: places, 1 and more; 1 asks for nothing ahead. `records`: of the thread.
  ReadAhead(std::size_t kept, std::size_t records) : kept_(kept), records_(records) {}

  /// The thread's next operation begins, and it is through with the record before. `ask` is called with each row that
  /// is to be asked for now.
  template <typename Ask>
  void next(Ask ask) {
    ++begun_;
    const auto row = (kept_ + 1) / 2;
    while (asked_ + row <= number() + kept_) {
      const auto count = std::min<std::uint64_t>(row, records_ - asked_ % records_);
      ask(Row{asked_, static_cast<std::size_t>(count)});
      asked_ += count;
    }
  }
  /// Of the operation that began last; 0 also before the first.
  std::uint64_t number() const { return begun_ == 0 ? 0 : begun_ - 1; }
  /// What was asked for ahead is not wanted any more. Not while any of it is under way.
  void forget() { asked_ = begun_; }

 private:
  std::size_t kept_;
  std::size_t records_;
  std::uint64_t begun_ = 0;
  std::uint64_t asked_ = 0;  // the first that is not
};

}  // namespace longhaul::workloads::rpc
