// Which QEMU emulates a lab's machines: one that lets a kernel patch code which another processor executes.
#include "lab/emulator.hh"

#include <gtest/gtest.h>

namespace longhaul::lab {
namespace {

TEST(QemuVersion, IsReadFromWhatQemuSays) {
  EXPECT_EQ(parse_qemu_version("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)\nCopyright (c) ..."),
            (QemuVersion{7, 2}));
  EXPECT_EQ(parse_qemu_version("QEMU emulator version 10.0.2 (longhaul-771daea2f07972be)"), (QemuVersion{10, 0}));
  for (const auto* other : {"", "QEMU emulator version ", "QEMU emulator version ten", "QEMU emulator version 10",
                            "QEMU emulator version 10.", "qemu-img version 10.0.2"})
    EXPECT_EQ(parse_qemu_version(other), std::nullopt) << other;
}

TEST(QemuVersion, OldOnesKeepTranslationsOfPatchedCode) {
  for (const QemuVersion old : {QemuVersion{7, 2}, QemuVersion{8, 0}}) EXPECT_LT(old, kTranslatesPatchedCode);
  for (const QemuVersion good : {QemuVersion{8, 1}, QemuVersion{8, 2}, QemuVersion{9, 0}, QemuVersion{10, 0}})
    EXPECT_GE(good, kTranslatesPatchedCode);
}

}  // namespace
}  // namespace longhaul::lab
