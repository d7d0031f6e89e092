# SPDX-License-Identifier: Apache-2.0
"""Requests of the load function, served by `serve` in the guest: guest/workload.

OAE_VP_WORKLOAD names the files that the guest needs, with colons between them: the module oae_sched, `schedule` and `serve`.
"""
import json
import os
import re
import shutil

import machine

FILES = os.environ.get("OAE_VP_WORKLOAD", "").split(":")

# CPU 0 is left to the agent, and CPU 3 to the dispatcher.
VCPUS = 4
MS = 1_000_000_000  # ps
FAST, FAST_RATE, FAST_RING = 15_000, 1_500_000, 1024
GETS_AND_RANGES, RANGE = 3100, 1 * MS
CHURN, CHURN_WORKERS, CHURN_RATE = 600, 12, 20_000
SHARE_OF_RANGES = (f"serve --rate 60k --count {GETS_AND_RANGES} --ranges 0.5% --get 1us --range {RANGE // MS}ms "
                   "--dispatcher-cpus 3 --workers")
FIRST = 8
RECORDS = "--database /tmp/db --keys 2000"
RUNS = {"fast": f"serve --rate {FAST_RATE} --count {FAST} --ring {FAST_RING} --service none --workers 0",
        "fair": "serve --rate 30k --count 500 --workers 12 --worker-cpus 1-2",
        "two": "serve --rate 200k --count 2000 --ring 256 --service none --workers 60 --dispatcher-cpus 2-3 --worker-cpus 0-1",
        "fifo": f"schedule --policy fifo-central --cpus 1 {SHARE_OF_RANGES} 11",
        "shinjuku": f"schedule --policy shinjuku --cpus 1 {SHARE_OF_RANGES} 200",
        "churn": f"schedule --policy shinjuku --cpus 1-2 serve --rate 30k --count {CHURN} --get 5us --workers {CHURN_WORKERS} "
                 f"--dispatcher-cpus 3 --churn {CHURN_RATE}",
        "saturate": "serve saturate --from 20k --time 1ms --workers 12 --worker-cpus 1",
        "first": f"serve --service rocksdb {RECORDS} --range-keys 500 --rate 10k --count {FIRST} --workers {FIRST} --worker-cpus 0-2",
        "rocksdb": f"serve --service rocksdb {RECORDS} --range-keys 500 --rate 10k --count 200 --ranges 5% --worker-cpus 0-2"}
REQUESTS = {"fast": FAST, "fair": 500, "two": 2000, "fifo": GETS_AND_RANGES, "shinjuku": GETS_AND_RANGES, "churn": CHURN,
            "rocksdb": 200, "first": FIRST}

# Each fails, and says why.
MISTAKES = {"no option: now": "serve now",
            "--database names the folder": "serve --service rocksdb",
            "/no/such": "serve --function /no/such",
            "no CPU is left for the workers": "taskset 8 serve",
            "does not hold the records 0 to 1999": f"serve fill --database /tmp/other --keys 1999\n"
                                                   f"serve --service rocksdb {RECORDS.replace('db', 'other')} --count 1",
            "error_if_exists": f"serve fill {RECORDS}"}

# The function goes on with what comes next.
KILLED = """
serve --rate 100k --count 1000000 --service none --workers 0 &
sleep 0.01
kill $!
code=0; wait $! || code=$?
echo "code $code" > /share/killed.out
serve --count 10 >> /share/killed.out
"""

# What the boot has left to do would keep a CPU from the workers.
SETTLE = f"""
set -e
PATH=/share:$PATH
sleep 0.4
insmod /share/oae_sched.ko
serve fill {RECORDS}
sh -c "$(vpctl mark settled)"
"""


class Workload(machine.TestCase):
    @classmethod
    def setUpClass(cls):
        scripts = {name: f"PATH=/share:$PATH\n{command} > /share/out" for name, command in RUNS.items()}
        scripts["mistakes"] = "PATH=/share:$PATH\n" + "".join(
            f"code=0; {{ {command}\n}} > /share/{number}.out 2>&1 || code=$?; echo \"code $code\" >> /share/{number}.out\n"
            for number, command in enumerate(MISTAKES.values())) + KILLED
        machines = machine.Children(
            "--set", f"hosts[0].vcpus={VCPUS}", "--set", "ipus[0].endpoint.load_function.present=true",
            scripts=scripts, mark="settled", append="vp.run=/share/settle")
        machines.command += ["--stats", str(machines.folder / "statistics.json")]
        for file in FILES:
            shutil.copy(file, machines.share)
        (machines.share / "settle").write_text(SETTLE)
        cls.machines = machines.finish()
        assert len(machines.children) == len(scripts), machines
        for child in machines.children.values():
            assert child.guest_code == 0, child

    def out(self, name):
        return self.machines.children[name].file("out")

    def numbers(self, name, what):
        """Returns the numbers of a line of a run's report, by name; a single one is named as the line."""
        words = re.search(rf"(?m)^{what} (.*)$", self.out(name)).group(1).split()
        return {what: int(words[0])} if len(words) == 1 else dict(zip(words[::2], map(int, words[1::2])))

    def statistics(self, name):
        return json.loads((self.machines.children[name].folder / "stats.json").read_text())

    def latency(self, name, kind="short"):
        return self.statistics(name)["latencies_ps"][f"ipu.load.{kind}"]

    def test_each_request_is_answered_once(self):
        for name, count in REQUESTS.items():
            with self.subTest(name):
                counters = self.statistics(name)["counters"]
                self.assertEqual({what: counters[f"ipu.load.{what}"]
                                  for what in ("generated", "dropped", "refused", "answered", "unknown")},
                                 {"generated": count, "dropped": 0, "refused": 0, "answered": count, "unknown": 0})

    def test_the_report_agrees_with_the_device(self):
        for name, count in REQUESTS.items():
            with self.subTest(name):
                requests = self.numbers(name, "requests")
                self.assertEqual(requests["get"] + requests["range"], count)
                self.assertEqual(self.numbers(name, "answers"), requests)
                self.assertEqual(self.numbers(name, "lost"), {"get": 0, "range": 0})
                for what in ("answered_twice", "unanswered", "wrong"):
                    self.assertEqual(self.numbers(name, what), {what: 0})
                self.assertEqual(requests["get"], self.latency(name)["count"])
                self.assertEqual(requests["range"], self.latency(name, "long")["count"])

    def test_a_dispatcher_sustains_1_5_million_requests_a_second(self):
        self.assertAlmostEqual(self.numbers("fast", "rate")["rate"], FAST_RATE, delta=3 * FAST_RATE / FAST ** 0.5)
        # The ring was not about to overflow: it never held half of what fits.
        self.assertLess(self.latency("fast")["max"], FAST_RING / 2 / FAST_RATE * 1e12)

    def test_a_get_takes_its_time_under_the_kernels_scheduler(self):
        self.assertGreater(self.latency("fair")["min"], 10_000_000)
        self.assertLess(self.latency("fair")["median"], 20_000_000)

    def test_a_range_blocks_gets_under_fifo(self):
        self.assertGreater(self.latency("fifo")["p99"], RANGE)

    def test_a_range_does_not_block_gets_under_shinjuku(self):
        self.assertLess(self.latency("shinjuku")["p99"], RANGE)
        self.assertGreater(self.latency("shinjuku", "long")["min"], RANGE)

    def test_percentiles_of_few_requests_are_not_reported(self):
        self.assertEqual(self.latency("shinjuku")["p99.5"], "too few")
        self.assertEqual(self.latency("fair")["p99"], "too few")

    def test_no_thread_is_lost(self):
        for name, workers in {"fast": 0, "fair": 12, "two": 60, "fifo": 11, "shinjuku": 200, "rocksdb": 8}.items():
            self.assertEqual(self.numbers(name, "threads"), {"begun": workers, "ended": workers}, name)
        threads, churn = self.numbers("churn", "threads"), self.numbers("churn", "churn")
        self.assertEqual(threads["begun"], CHURN_WORKERS + churn["die"])
        self.assertEqual(threads["ended"], threads["begun"])

    def test_churn_is_seen_by_the_agent(self):
        churn = self.numbers("churn", "churn")
        self.assertGreater(churn["rate"], 0.9 * CHURN_RATE)
        changes = sum(churn[kind] for kind in ("die", "affinity", "class", "nice"))
        self.assertGreater(changes, 0.5 * CHURN / 30_000 * CHURN_RATE)

        def sent(message):
            return int(re.search(rf"(?m)^message {message} sent (\d+)", self.out("churn")).group(1))

        # `serve` itself, which begins in the agent's class, leaves it.
        self.assertEqual(sent("NEW"), 1 + CHURN_WORKERS + churn["die"] + churn["class"])
        self.assertEqual(sent("DEPARTED"), 1 + churn["class"])
        self.assertEqual(sent("DEAD"), CHURN_WORKERS + churn["die"])
        self.assertGreater(sent("AFFINITY_CHANGED"), churn["affinity"] / 4)
        self.assertGreater(sent("PRIORITY_CHANGED"), churn["nice"] / 4)

    def test_rocksdb_reads_what_was_filled_in(self):
        ranges = self.numbers("rocksdb", "requests")["range"]
        self.assertGreater(ranges, 0)
        # A RANGE reads 500 records, and a GET one.
        self.assertGreater(self.latency("rocksdb", "long")["median"], 20 * self.latency("rocksdb")["median"])

    def test_the_first_read_of_a_thread_takes_no_longer(self):
        latency = self.latency("first")
        self.assertEqual(latency["count"], FIRST)
        self.assertLess(latency["max"], 2 * latency["min"])

    def test_mistakes_are_explained(self):
        for number, text in enumerate(MISTAKES):
            with self.subTest(text):
                said = self.machines.children["mistakes"].file(f"{number}.out")
                self.assertIn(text, said)
                self.assertRegex(said, r"code [12]\n$")

    def test_saturation_is_where_answers_begin_to_be_late(self):
        rate = self.numbers("saturate", "saturation")["saturation"]
        # A CPU that does nothing but serve for 10 us could serve 100,000 a second, and a switch takes some 6 us more. Of several
        # CPUs, the kernel may use one alone.
        self.assertGreater(rate, 40_000)
        self.assertLess(rate, 100_000)
        trials = [tuple(map(int, trial)) for trial in re.findall(r"(?m)^trial (\d+) late (\d+) of (\d+)$", self.out("saturate"))]
        self.assertEqual([tried for tried, *_ in trials[:2]], [20_000, 40_000])
        self.assertEqual({count for *_, count in trials}, {3000})
        in_time = {tried for tried, late, count in trials if late <= count / 100}
        self.assertEqual(in_time, {tried for tried, *_ in trials if tried <= rate})
        self.assertLessEqual(min(tried for tried, *_ in trials if tried > rate) - rate, rate / 100 + 1)
        # The device has measured the answers of all trials.
        self.assertEqual(self.latency("saturate")["count"], 3000 * len(trials))

    def test_a_killed_program_stops_the_load(self):
        said = self.machines.children["mistakes"].file("killed.out")
        self.assertRegex(said, r"^code 143\nrequests get 10 range 0\nlost get 0 range 0\nanswers get 10 range 0\n")


if __name__ == "__main__":
    machine.main()
