#include "model/cell.hh"

#include <gtest/gtest.h>

namespace longhaul {
namespace {

const Parameters kParameters{{"transport", Value{"rdma"}}, {"provider", Value{"rxe"}}, {"delay", Value{5'000'000}}};

TEST(Cell, CanonicalIsSortedAndInBaseUnits) {
  const auto cell = make_cell("latency", kParameters, common_axes());
  EXPECT_EQ(canonical(cell), "latency;delay=5000000;provider=rxe;transport=rdma");
}

// Golden: a change here makes every stored campaign unresumable and incomparable.
TEST(Cell, IdentityIsFrozen) {
  EXPECT_EQ(cell_id(make_cell("latency", kParameters, common_axes())), "974cb803a7357604");
}

TEST(Cell, AnAxisAtItsDefaultIsLeftOut) {
  auto with_default = kParameters;
  with_default.emplace("engine", Value{"netem"});
  with_default.emplace("path", Value{"wan"});
  with_default.emplace("clock", Value{"host"});
  EXPECT_EQ(make_cell("latency", with_default, common_axes()), make_cell("latency", kParameters, common_axes()));
  for (const auto& [axis, other] :
       {std::pair{"engine", "nfqueue"}, std::pair{"engine", "auto"}, std::pair{"clock", "virtual"}}) {
    auto changed = with_default;
    changed[axis] = Value{other};
    EXPECT_NE(cell_id(make_cell("latency", changed, common_axes())),
              cell_id(make_cell("latency", kParameters, common_axes())));
  }
}

}  // namespace
}  // namespace longhaul
