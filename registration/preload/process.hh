// The cache of this process: made with the first registration, told about at the end.
#pragma once

#include "registration/preload/keeper.hh"

namespace longhaul::registration {

class Process {
 public:
  /// The keeper, made with the environment's settings by the first call; nullptr: everything is to be passed by.
  static Keeper* keeper();
  /// The same with settings of the program's own. Refuses where there is a keeper already that has others, or none can
  /// be.
  static Result<Keeper*> keeper_with(std::string_view settings);
  /// If one was made.
  static Keeper* keeper_if_any();
  /// The next functions of libibverbs; complete with the first call of one of them.
  static const Verbs& verbs();
  /// At exit: the statistics, where they are asked for.
  static void report();
};

}  // namespace longhaul::registration
