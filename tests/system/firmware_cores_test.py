# SPDX-License-Identifier: Apache-2.0
"""Several cores of the firmware serve a part of the ports each, for several threads of the host."""
import json

import machine

PORTS = 8
COUNT = 100
SCRIPT = f"""
cd /share
for port in $(seq 0 {PORTS - 1}); do oae bench --port $port --count {COUNT} --json > $port & done
wait
"""


class Cores(machine.TestCase):
    def run_(self, cores, *options):
        return self.succeed("--set", "hosts[0].vcpus=4", "--set", f"ipus[0].cores={cores}",
                            "--set", "ipus[0].firmware_options.poll=true", *options, script=SCRIPT, trace=True)

    def test_each_serves_its_ports(self):
        for cores in (1, 3, 4):
            with self.subTest(cores=cores):
                run = self.run_(cores)
                for port in range(PORTS):
                    bench = json.loads(run.file(str(port)))
                    self.assertEqual(bench["committed"], COUNT, run)
                    self.assertTrue(bench["agree"], bench)

    def test_however_far_they_run_ahead(self):
        runs = [self.run_(4, "--set", f"simulation.max_quantum={quantum}") for quantum in ("100us", "700ns")]
        self.assertEqual(*[run.trace_bytes for run in runs])


if __name__ == "__main__":
    machine.main()
