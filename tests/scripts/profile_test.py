#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of scripts/bench --profile: what samples are counted as, and how perf is led. Neither perf nor a machine runs.

Usage: profile_test.py [GROUP[.CASE]]...
"""

import os
import re
import sys
import unittest

from in_folder import InFolder, SCRIPTS

sys.path.insert(0, str(SCRIPTS / "lib"))
from bench import machines, profile  # noqa: E402
from bench.benchmarks import BEGIN, END, USER_SPACE  # noqa: E402

# As 'perf report' of a run wrote it, with the part that each line belongs to.
REPORT = """
463         |oae-vp                  |[.] Voae_block___024root___nba_sequent__TOP__0                          |-      -      # block's RTL
12          |oae-vp                  |[.] VerilatedVcd::dumpPrep                                              |-      -      # block's RTL
153         |[JIT] tid 2566          |[.] 0x00007f34c7f7196a                                                  |-      -      # translated code
3           |anon                    |[.] 0x00007f34c7fa1243                                                  |-      -      # translated code
199         |libqemu-x86_64.so       |[.] helper_lookup_tb_ptr                                                |-      -      # QEMU x86-64
224         |libqemu-aarch64.so      |[.] mmu_lookup1                                                         |-      -      # QEMU AArch64
167         |libsystemc-2.3.4.so     |[.] sc_core::sc_simcontext::crunch                                      |-      -      # SystemC
11          |oae-vp                  |[.] virtual thunk to tlm_utils::callback_binder_fw<tlm::tlm_base_protocol_types>::b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&)  |-      -      # SystemC
4           |oae-vp                  |[.] virtual thunk to tlm_utils::passthrough_target_socket_b<oae::Block, 32u, tlm::tlm_base_protocol_types, (sc_core::sc_port_policy)0>::process::b_transport(tlm::tlm_generic_payload&, sc_core::sc_time&)  |-      -      # models/oae
19          |oae-vp                  |[.] tlm_utils::static_b_transport<ipu::Noc, tlm::tlm_base_protocol_types>   |-      -      # models/ipu
18          |oae-vp                  |[.] ipu::(anonymous namespace)::carry_out                               |-      -      # models/ipu
2           |oae-vp                  |[.] std::_Function_handler<void (), pcie::HalfLink::HalfLink(pcie::Link&, pcie::Direction, pcie::Port&, pcie::Port&, long)::{lambda()#1}>::_M_invoke  |-      -      # models/pcie
6           |oae-vp                  |[.] pcie::RootPort::transact(std::unique_ptr<host::Line, vp::Event>, oae::Block*)  |-      -      # models/pcie
5           |oae-vp                  |[.] host::DeviceMemory::transport                                       |-      -      # models/host
16          |oae-vp                  |[.] vp::qemu::Instance::Instance(sc_core::sc_module_name const&, vp::Domain&, vp::qemu::Instance::Config)::{lambda(void*)#2}::_FUN  |-      -      # vp/qemu
40          |oae-vp                  |[.] vp::Agenda::run                                                     |-      -      # vp/time
52          |oae-vp                  |[.] vp::Domain::horizon                                                 |-      -      # vp/time
1           |oae-vp                  |[.] vp::Trace::write(vp::Domain const&)                                 |-      -      # rest of oae-vp
1           |oae-vp                  |[.] platform::(anonymous namespace)::Run::look_outside                  |-      -      # rest of oae-vp
10          |ld-linux-x86-64.so.2    |[.] __tls_get_addr                                                      |-      -      # C library
3           |libc.so.6               |[.] __memmove_avx512_unaligned_erms                                     |-      -      # C library
14          |[kernel.kallsyms]       |[k] clear_page_erms                                                     |-      -      # kernel
2           |[vdso]                  |[.] __vdso_clock_gettime                                                |-      -      # kernel
7           |libcrypto.so.3          |[.] sha256_block_data_order                                             |-      -      # other libraries
"""


class Attribution(unittest.TestCase):
    def setUp(self):
        texts = [line.rsplit("  # ", 1) for line in REPORT.strip().splitlines()]
        self.parts = [part for _, part in texts]
        self.lines = profile.lines_of("\n# a remark\n" + "\n".join(text for text, _ in texts) + "\n\n")

    def test_each_line_belongs_to_its_part(self):
        self.assertEqual(len(self.lines), len(self.parts))
        for line, part in zip(self.lines, self.parts):
            self.assertEqual(profile.part_of(line), part, line)
            self.assertIn(part, profile.PARTS)

    def test_fields_are_read_without_what_perf_adds(self):
        self.assertEqual(self.lines[0], profile.Line(463, "oae-vp", "Voae_block___024root___nba_sequent__TOP__0"))
        self.assertEqual(profile.lines_of("7|a b|[k] c d\n"), [profile.Line(7, "a b", "c d")])

    def test_functions_without_their_parameters(self):
        for symbol, function in (
            ("a::b(c::d)", "a::b"),
            ("a::b<c::d(e)>::f(g)", "a::b<c::d(e)>::f"),
            ("a::operator()(b::c)", "a::_"),
            ("a::operator<<(b::c)", "a::_"),
            ("a::(anonymous namespace)::b(c)", "a::_::b"),
        ):
            self.assertEqual(profile.function_of(symbol), function)

    def test_the_program_and_the_library_of_its_core_are_divided_by_symbols(self):
        for dso in ("oae-vp", "/a/build/cmake/platforms/liboae-vp.so.1"):
            self.assertEqual(profile.part_of(profile.Line(1, dso, "pcie::Link::send(int)")), "models/pcie")
        self.assertEqual(profile.part_of(profile.Line(1, "liboae-vp-other.so", "pcie::Link::send(int)")), "other libraries")

    def test_the_table_has_all_shares_and_the_hottest_symbols(self):
        shares, hottest = profile.table(self.lines).split("\n\n")
        whole = sum(line.samples for line in self.lines)
        self.assertAlmostEqual(sum(float(share.split()[0]) for share in shares.splitlines()), 100, delta=1)
        self.assertIn(f"{100 * 475 / whole:5.1f} %  block's RTL", shares)
        self.assertEqual([share.split("  ")[-1] for share in shares.splitlines()],
                         [part for part in profile.PARTS if part in self.parts])
        lines = hottest.splitlines()
        self.assertEqual(len(lines), 1 + profile.HOTTEST)
        self.assertRegex(lines[1], r"%  block's RTL +Voae_block___024root___nba_sequent__TOP__0$")
        self.assertNotIn("0x0000", hottest)


class Recording(InFolder):
    """With a perf of our own, which notes its commands, and answers them or does not."""

    def setUp(self):
        super().setUp()
        self.addCleanup(os.environ.__setitem__, "PATH", os.environ["PATH"])
        os.environ["PATH"] = f"{self.folder}:{os.environ['PATH']}"

    def perf(self, script):
        path = self.folder / "perf"
        path.write_text("#!/bin/bash\n" + script)
        path.chmod(0o755)

    def record(self, lines):
        recorder = profile.Recorder(self.folder, lines)
        try:
            text = "; ".join(f"echo '{line}'" for line in lines)
            return machines.run_machine(recorder.STOPPED + ["sh", "-c", text], lines, self.folder / "log", recorder)
        finally:
            recorder.end()

    def test_only_the_measured_part_is_recorded(self):
        self.perf(f"""
            for word; do case $word in --control=fifo:*) names=${{word#*fifo:}};; esac; done
            while read -r word <"${{names%,*}}"; do echo "$word" >>{self.folder}/commands; echo ack >"${{names#*,}}"; done
            """)
        for lines, commands in (([BEGIN, END], "ping enable disable"),
                            ([USER_SPACE, BEGIN, END], "ping enable disable"),
                            ([USER_SPACE], "enable disable")):
            self.record(lines)
            self.assertEqual((self.folder / "commands").read_text().split(), commands.split())
            for name in ("commands", "control", "answer"):
                (self.folder / name).unlink()

    def test_perf_that_is_not_permitted(self):
        self.perf("echo 'Access to performance monitoring is limited.'; exit 255")
        with self.assertRaisesRegex(machines.Failure, r"monitoring is limited(.|\n)*perf_event_paranoid=1"):
            self.record([BEGIN, END])

    def test_perf_that_is_missing(self):
        os.environ["PATH"] = str(self.folder)
        with self.assertRaisesRegex(machines.Failure, re.escape("scripts/setup --packages profile")):
            profile.profile("swap", self.folder)


if __name__ == "__main__":
    unittest.main()
