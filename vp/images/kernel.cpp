// SPDX-License-Identifier: Apache-2.0
#include "vp/images/kernel.h"

#include <fmt/format.h>

namespace vp::images {

namespace {

/// Offsets of the setup header's fields in the file (boot.rst, "The Real-Mode Kernel Header").
enum Offset : std::uint64_t {
  setup_sects = 0x1f1,       // 1 byte: sectors of 512 after the first; 0 means 4
  syssize = 0x1f4,           // 4: protected-mode code, in units of 16 bytes
  boot_flag = 0x1fe,         // 2: 0xaa55
  header = 0x202,            // 4: "HdrS"
  version = 0x206,           // 2: boot protocol
  loadflags = 0x211,         // 1: [0] LOADED_HIGH, a bzImage
  kernel_alignment = 0x230,  // 4: a power of two
  xloadflags = 0x236,        // 2: [0] XLF_KERNEL_64
  cmdline_size = 0x238,      // 4
  payload_offset = 0x248,    // 4: from the protected-mode code
  payload_length = 0x24c,    // 4
  init_size = 0x260,         // 4
  header_end = 0x268,
};

constexpr std::uint16_t oldest_protocol = 0x020c;  // 2.12, which has xloadflags: Linux 3.8

}  // namespace

Kernel check_kernel(const Bytes& file) {
  const char* const remedy =
      "give a bzImage of Linux for x86-64, such as /boot/vmlinuz-* on Debian";
  if (!file.matches(header, "HdrS", 4)) {
    const std::string kind = recognise(file);
    if (kind == "an ELF file")
      throw Mistake("it is an ELF file and not a bzImage",
                    "give arch/x86/boot/bzImage of the kernel's build instead of vmlinux");
    if (!kind.empty())
      throw Mistake(fmt::format("it is {} and not a Linux kernel for x86", kind), remedy);
    throw Mistake(file.size() < header_end ? "it is too short for a Linux kernel"
                                           : "it is not a Linux kernel for x86: no `HdrS` at 0x202",
                  remedy);
  }
  if (!file.holds(0, header_end)) throw Mistake("it ends within its header", "copy it again");
  if (file.u16(boot_flag) != 0xaa55)
    throw Mistake(fmt::format("its boot flag at {:#x} is {:#06x} and not 0xaa55",
                              std::uint64_t{boot_flag}, file.u16(boot_flag)),
                  remedy);
  const std::uint16_t protocol = file.u16(version);
  if (protocol < oldest_protocol || protocol >= 0x0300)
    throw Mistake(fmt::format("its boot protocol is {}.{:02}; 2.12 and up to 2.x are supported",
                              protocol >> 8, protocol & 0xff),
                  "give a kernel of Linux 3.8 or later");
  if ((file.u8(loadflags) & 1) == 0) throw Mistake("it is a zImage and not a bzImage", remedy);
  if ((file.u16(xloadflags) & 1) == 0) throw Mistake("it is a 32-bit kernel", remedy);

  const std::uint64_t sectors = file.u8(setup_sects) == 0 ? 4 : file.u8(setup_sects);
  const std::uint64_t setup = (sectors + 1) * 512;
  const std::uint64_t code = std::uint64_t{file.u32(syssize)} * 16;
  if (code == 0) throw Mistake("its header says that it has no code", "copy it again");
  // Whatever follows is a signature.
  if (!file.holds(setup, code))
    throw Mistake(fmt::format("it is cut off: it has {} bytes, but its header says {}", file.size(),
                              setup + code),
                  "copy it again");
  const std::uint64_t payload = file.u32(payload_offset), length = file.u32(payload_length);
  if (payload + length > code || length == 0)
    throw Mistake(fmt::format("its payload, {} bytes at {:#x}, is not within its {} bytes of code",
                              length, payload, code),
                  "copy it again");
  const std::uint32_t alignment = file.u32(kernel_alignment);
  if (alignment == 0 || (alignment & (alignment - 1)) != 0)
    throw Mistake(fmt::format("its alignment, {:#x}, is not a power of two", alignment),
                  "copy it again");
  if (file.u32(init_size) < code)
    throw Mistake(fmt::format("it says that it needs {} bytes of memory, less than its code",
                              file.u32(init_size)),
                  "copy it again");
  return {protocol, file.u32(init_size), file.u32(cmdline_size)};
}

}  // namespace vp::images
