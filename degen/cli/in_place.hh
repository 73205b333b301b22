// A line on standard error that is written over: on a terminal, elsewhere nothing is shown.
#pragma once

#include <string>

namespace longhaul::degen {

class InPlaceLine {
 public:
  /// What becomes of the last line when this goes.
  enum class End { stays, goes };

  InPlaceLine(bool quiet, End end);
  ~InPlaceLine();
  InPlaceLine(const InPlaceLine&) = delete;
  InPlaceLine& operator=(const InPlaceLine&) = delete;
  void show(const std::string& text);

 private:
  bool shown_;
  End end_;
  bool written_ = false;
};

}  // namespace longhaul::degen
