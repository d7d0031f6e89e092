# SPDX-License-Identifier: Apache-2.0
"""A disk of the kind `nvme` fails: Linux's driver goes through its error paths, and a file system stays whole whatever happens."""
import json
import os
import pathlib
import subprocess
import tempfile

import machine
from nvme_test import HEAD, MIB, DiskCase, image, sum_of

# Linux waits for 30 s and for 60 s otherwise, which takes simulated time and nothing else.
IMPATIENT = "nvme_core.io_timeout=1 nvme_core.admin_timeout=2"

PATTERN_SIZE = 200_000
# What is read has to be asked for directly: what the kernel reads ahead is not tried again.
WRITTEN = HEAD + """
dd if=/share/pattern of=$disk bs=4096 conv=notrunc,fsync
forget
same() { dd if=$disk bs=64k count=4 iflag=direct 2> /dev/null | cmp -n $(stat -c %s /share/pattern) /share/pattern -; }
fault() { vpctl inject disk "$@"; }
"""
LOGGED = "dmesg -r > /share/dmesg\n"

# A read is not answered. The driver aborts it, and the kernel tries it again.
ABORTED = WRITTEN + "fault hold 1 read\nsame\n" + LOGGED

# The disk does not abort it either, so that the driver resets the controller when it has waited once more.
REFUSED = WRITTEN + "fault hold 1 read\nfault refuse_abort 9\nsame\nfault clear\n" + LOGGED

# Nor does it answer the Abort.
UNANSWERED = WRITTEN + "fault hold 1 read\nfault hold 1 abort\nsame\n" + LOGGED

# The controller stops, which the driver sees when a command is late.
FATAL = WRITTEN + "fault fatal\nsame\n" + LOGGED

# A command fails for good, and the next one does not.
FAILED = WRITTEN + """
fault fail unrecovered_read_error 1 read
code=0; dd if=$disk of=/dev/null bs=4096 count=1 iflag=direct 2> /share/failed || code=$?
echo $code > /share/code
same
""" + LOGGED

# Commands fail in a way that may pass: a few times, and more often than Linux tries.
RETRIED = WRITTEN + "fault fail internal_error 3 read\nsame\n" + LOGGED
UNRETRIED = WRITTEN + """
fault fail write_fault 6 write
code=0; dd if=/share/pattern of=$disk bs=4096 count=1 seek=100 oflag=direct conv=notrunc 2> /share/failed || code=$?
echo $code > /share/code
same
""" + LOGGED

# After a reset the controller does not become ready. The kernel gives the disk up, and finds it again when it looks anew.
DEAD = WRITTEN + """
fault stay_disabled 1
echo 1 > /sys/class/nvme/nvme0/reset_controller || true
await eval 'dmesg | grep -q "Device not ready"'
{ dd if=$disk bs=4096 count=1 iflag=direct || true; } 2> /dev/null | wc -c > /share/read
echo 1 > $device/remove
await eval '! [ -e $disk ]'
echo 1 > /sys/bus/pci/rescan
await [ -e $disk ]
same
""" + LOGGED

MISTAKES = HEAD + """
for words in "disk melt" "disk hold 0" "disk fail 0x800" "disk.2 hold" "ipu hold"; do
  vpctl inject $words 2>> /share/mistakes || true
done
for words in "tape a.img" "disk.2 a.img" "disk.x a.img"; do
  vpctl export $words 2>> /share/mistakes || true
done
code=0; vpctl export disk ../a.img 2> /dev/null || code=$?
echo $code > /share/code
"""


class Driver(DiskCase):
    """Linux's driver, many scripts from one boot."""

    SCRIPTS = {"aborted": ABORTED, "refused": REFUSED, "unanswered": UNANSWERED, "fatal": FATAL, "failed": FAILED,
               "retried": RETRIED, "unretried": UNRETRIED, "dead": DEAD, "mistakes": MISTAKES}

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory(prefix="oae-vp-") as folder:
            cls.run_ = machine.Children("--stats", str(pathlib.Path(folder) / "stats.json"), platform="disk", scripts=cls.SCRIPTS,
                                        append=IMPATIENT, trace=True, check_rtl=False)
            (cls.run_.share / "pattern").write_bytes(image(2, PATTERN_SIZE))
            cls.run_.finish()

    def child(self, name):
        child = self.run_.children[name]
        self.assertEqual(child.code, 0, child)
        self.check_nothing_in_vain(child)
        return child

    def log(self, name, *expected):
        """Checks that the kernel has said these things in this order. Returns all that it has said."""
        log = self.child(name).file("dmesg")
        at = 0
        for text in expected:
            found = log.find(text, at)
            self.assertGreaterEqual(found, 0, f"{text!r} is not behind the others in\n{log}")
            at = found + len(text)
        self.check_no_trouble(log)
        return log

    def faults(self, name):
        return json.loads((self.run_.children[name].folder / "stats.json").read_text())["counters"]["disk.controller.injected_faults"]

    def statuses(self, name, opcode):
        return [line["status"] for line in self.run_.children[name].trace
                if line.get("nvme") == "disk.controller" and line.get("queue", 0) > 0 and line.get("opcode") == opcode]

    def all_states(self, name):
        return [line["state"] for line in self.run_.children[name].trace
                if line.get("nvme") == "disk.controller" and "state" in line]

    def states(self, name):
        """Those of the controller that do not belong to boot and shutdown, which the child without a fault has, too."""
        states, usual = self.all_states(name), self.all_states("mistakes")
        self.assertEqual((states[0], states[len(states) - len(usual) + 1:]), (usual[0], usual[1:]))
        return states[1:len(states) - len(usual) + 1]

    def test_a_late_command_is_aborted_and_tried_again(self):
        log = self.log("aborted", "QID 1 timeout, aborting", "Abort status: 0x0")
        self.assertNotIn("reset controller", log)
        self.assertNotIn("I/O error", log)
        self.assertEqual(self.statuses("aborted", "0x02").count("0x007"), 1)
        self.assertEqual(self.states("aborted"), [])
        self.assertEqual(self.faults("aborted"), 1)

    def test_a_refused_abort_leads_to_a_reset(self):
        log = self.log("refused", "QID 1 timeout, aborting", "QID 1 timeout, reset controller")
        self.assertNotIn("I/O error", log)
        self.assertEqual(self.states("refused"), ["reset", "ready"])
        self.assertGreaterEqual(self.faults("refused"), 2)

    def test_an_unanswered_abort_leads_to_a_reset(self):
        log = self.log("unanswered", "QID 1 timeout, aborting", "timeout, reset controller")
        self.assertNotIn("I/O error", log)
        self.assertEqual(self.states("unanswered"), ["reset", "ready"])
        self.assertEqual(self.faults("unanswered"), 2)

    def test_a_fatal_status_leads_to_a_reset(self):
        log = self.log("fatal", "controller is down; will reset: CSTS=0x3")
        self.assertNotIn("I/O error", log)
        self.assertEqual(self.states("fatal"), ["fatal", "reset", "ready"])

    def test_a_final_status_is_an_error_of_the_disk(self):
        log = self.log("failed", "critical medium error, dev nvme0n1, sector 0 op 0x0:(READ)")
        self.assertEqual(log.count("critical medium error"), 1)
        child = self.child("failed")
        self.assertNotEqual(child.file("code").strip(), "0")
        self.assertRegex(child.file("failed"), "I/O error|Input/output error|No data available")
        self.assertEqual(self.statuses("failed", "0x02").count("0x281"), 1)

    def test_a_passing_status_is_tried_again(self):
        log = self.log("retried")
        self.assertNotIn("error", log)
        self.assertEqual(self.statuses("retried", "0x02").count("0x006"), 3)
        self.assertEqual(self.faults("retried"), 3)

    def test_linux_tries_six_times(self):
        log = self.log("unretried", "nvme0n1, sector 800 op 0x1:(WRITE)")
        self.assertEqual(log.count("op 0x1:(WRITE)"), 1)
        self.assertNotEqual(self.child("unretried").file("code").strip(), "0")
        self.assertEqual(self.statuses("unretried", "0x01").count("0x280"), 6)

    def test_a_disk_that_stays_disabled_is_given_up_and_found_again(self):
        self.log("dead", "Device not ready; aborting initialisation, CSTS=0x0")
        self.assertEqual(self.child("dead").file("read").strip(), "0")  # bytes: it has no capacity any more, or is gone
        states = self.all_states("dead")
        self.assertEqual(states[:2], ["ready", "reset"])
        self.assertIn("ready", states[2:])
        self.assertEqual(self.faults("dead"), 1)

    def test_mistakes_are_said(self):
        mistakes = self.child("mistakes").file("mistakes").splitlines()
        expected = ["an NVMe disk can hold, fail", "the number is a whole number from 1 up", "fail takes a status",
                    "there is no such direction", "a device of this kind has no faults of its own",
                    "there is no such device; there are disk",
                    "has no namespace 2; it has those from 1 to 1", "the number of a storage is a whole number"]
        self.assertEqual(len(mistakes), len(expected), mistakes)
        for line, text in zip(mistakes, expected):
            self.assertIn(text, line)
        self.assertEqual(self.child("mistakes").file("code").strip(), "2")


# Files are written one after the other, each synced and then listed. Others are written without, and removed.
FILES = 160
WRITING = HEAD + f"""
mkdir /tmp/disk
mount -t ext4 $disk /tmp/disk
: > /tmp/synced
: > /tmp/failed
writer() {{
  for n in $(seq {FILES}); do
    dd if=/share/pattern of=/tmp/disk/$n bs=500 skip=$n count=$((n % 40 + 1)) conv=fsync 2> /tmp/error || {{
      cat /tmp/error >> /tmp/failed
      return
    }}
    echo $n >> /tmp/synced
    dd if=/share/pattern of=/tmp/disk/loose$n bs=4096 count=4 2> /dev/null || true
    [ $((n % 3)) != 0 ] || rm -f /tmp/disk/loose$((n - 1)) || true
    [ $((n % 10)) != 0 ] || mv /tmp/disk/loose$n /tmp/disk/moved$n || true
  done
}}
writer & load=$!
begun() {{ [ $(wc -l < /tmp/synced) -ge $1 ]; }}
verify() {{
  forget
  while read -r n; do
    dd if=/share/pattern of=/tmp/expected bs=500 skip=$n count=$((n % 40 + 1)) 2> /dev/null
    cmp /tmp/expected /tmp/disk/$n
  done < /tmp/synced
}}
"""
# What is done meanwhile; the writer goes on.
THEN_REMOUNT = f"""
wait $load
[ ! -s /tmp/failed ]
[ $(wc -l < /tmp/synced) = {FILES} ]
umount /tmp/disk
mount -t ext4 $disk /tmp/disk
verify
umount /tmp/disk
wc -l < /tmp/synced > /share/count
dmesg -r > /share/dmesg
"""
TROUBLES = {
    "undisturbed": "",
    "link_errors": """
for n in 20 40 60 80 100; do
  await begun $n
  vpctl inject host_disk.up bad_tlp MWr 3
  vpctl inject host_disk.down bad_tlp CplD 2
  vpctl inject host_disk.up bad_dllp
  vpctl inject host_disk.down receiver_error
done
""",
    "fatal_link_errors": """
for direction in up down; do
  await begun 30
  vpctl inject host_disk.$direction malformed_tlp
  await eval 'dmesg | grep -q "device recovery successful"'
  dmesg -c > /dev/null
done
""",
    "resets": """
for n in 20 50 80; do
  await begun $n
  echo 1 > /sys/class/nvme/nvme0/reset_controller
done
for method in flr bus; do
  await begun 100
  echo $method > $device/reset_method
  echo 1 > $device/reset
done
""",
    "poisoned": """
for n in 20 40 60 80; do
  await begun $n
  vpctl inject host_disk.down poisoned_tlp CplD 5
done
""",
    "failing_commands": """
for n in 20 50 80; do
  await begun $n
  vpctl inject disk fail write_fault 3 write
  vpctl inject disk hold 1 write
  vpctl inject disk fail internal_error 2 flush
done
""",
}
# The disk loses its power. The writer fails, and what it has listed must be there.
PULLED = WRITING + """
await begun {begun}
{before}
vpctl hot_plug host_disk remove
kill -CONT $load
wait $load
[ -s /tmp/failed ]
await eval '! [ -e $disk ]'
umount /tmp/disk
vpctl hot_plug host_disk insert
await [ -e $disk ]
dmesg -c > /dev/null
mount -t ext4 $disk /tmp/disk
dmesg -r > /share/mounted
verify
touch /tmp/disk/goes_on
umount /tmp/disk
wc -l < /tmp/synced > /share/count
dmesg -r > /share/dmesg
"""
# Nothing flushes what is written here.
UNFLUSHED = """
kill -STOP $load
sleep 0.02
dd if=/share/pattern of=/tmp/disk/unflushed bs=4096 count=40 oflag=direct
"""


class FileSystem(DiskCase):
    """An ext4 file system is sound after each of these, and each file that was synced is whole."""

    UUID = "f0ae0ae5-0000-4000-8000-00000000000f"
    # Files that are synced before, and what is done then
    PULLS = {3: "", 40: "", 70: UNFLUSHED, 100: ""}

    @classmethod
    def setUpClass(cls):
        scripts = {name: WRITING + trouble + THEN_REMOUNT for name, trouble in TROUBLES.items()}
        scripts.update({f"pulled_{begun}": PULLED.replace("{begun}", str(begun)).replace("{before}", before)
                        for begun, before in cls.PULLS.items()})
        cls.folder_ = tempfile.TemporaryDirectory(prefix="oae-vp-")
        cls.addClassCleanup(cls.folder_.cleanup)
        folder = pathlib.Path(cls.folder_.name)
        file = folder / "disk.img"
        with open(file, "wb") as created:
            created.truncate(32 * MIB)
        # The same image each time, and one that Linux does not go on making in the background.
        subprocess.run(["/sbin/mke2fs", "-q", "-t", "ext4", "-U", cls.UUID, "-E",
                        f"hash_seed={cls.UUID},lazy_itable_init=0,lazy_journal_init=0", file], check=True,
                       env={**os.environ, "E2FSPROGS_FAKE_TIME": "1"})
        cls.run_ = machine.Children("--set", f"devices[0].namespaces=[{{image: {file}, cache: 256KiB}}]",
                                    "--set", "pcie_links[1].hot_plug={capable: true, surprise: true}",
                                    "--export", f"disk={folder / 'at_the_fork.img'}", "--stats", folder / "stats.json",
                                    platform="disk", scripts=scripts, append=IMPATIENT, trace=True, check_rtl=False)
        (cls.run_.share / "pattern").write_bytes(image(5, PATTERN_SIZE))
        cls.run_.finish()
        cls.at_first, cls.at_the_fork = sum_of(file.read_bytes()), sum_of((folder / "at_the_fork.img").read_bytes())

    def check(self, name):
        """Checks what all have in common: the log, and the file system on the disk that the child has left."""
        child = self.run_.children[name]
        self.assertEqual(child.code, 0, child)
        self.check_nothing_in_vain(child)
        log = child.file("dmesg")
        self.check_no_trouble(log)
        checked = subprocess.run(["/sbin/e2fsck", "-f", "-n", child.folder / "disk.img"], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True)
        self.assertEqual(checked.returncode, 0, f"{name}:\n{checked.stdout}")
        return child

    def counter(self, child, name):
        return json.loads((child.folder / "stats.json").read_text())["counters"][name]

    def check_undamaged(self, name):
        child = self.check(name)
        self.assertEqual(child.file("count").strip(), str(FILES))
        for text in ("I/O error", "EXT4-fs error", "Remounting filesystem read-only"):
            self.assertNotIn(text, child.file("dmesg"))
        return child

    def test_without_any_trouble(self):
        self.assertEqual(self.counter(self.check_undamaged("undisturbed"), "disk.controller.injected_faults"), 0)

    def test_errors_that_the_link_corrects(self):
        self.check_undamaged("link_errors")

    def test_errors_that_reset_the_link(self):
        self.check_undamaged("fatal_link_errors")

    def test_resets_of_controller_and_function(self):
        child = self.check_undamaged("resets")
        states = [line["state"] for line in child.trace if line.get("nvme") == "disk.controller" and "state" in line]
        self.assertGreaterEqual(states.count("ready"), 1 + 3 + 2)

    def test_poisoned_data(self):
        child = self.check_undamaged("poisoned")
        failed = [line for line in child.trace if line.get("nvme") == "disk.controller" and line.get("status") == "0x004"]
        self.assertGreater(len(failed), 0, "data that was written has arrived poisoned, and the disk has refused it")

    def test_commands_that_fail(self):
        child = self.check_undamaged("failing_commands")
        self.assertEqual(self.counter(child, "disk.controller.injected_faults"), 3 * (3 + 1 + 2))

    def test_a_loss_of_power(self):
        for begun, before in self.PULLS.items():
            child = self.check(f"pulled_{begun}")
            self.assertGreaterEqual(int(child.file("count")), begun)
            self.assertLess(int(child.file("count")), FILES)
            self.assertIn("EXT4-fs (nvme0n1): recovery complete", child.file("mounted"))
            lost = [line["lost"] for line in child.trace if line.get("state") == "power lost"]
            self.assertEqual(len(lost), 1)
            if before:
                self.assertGreater(lost[0], 0, "the cache has held blocks that were not flushed")

    def test_the_parent_has_the_disk_as_it_was_at_the_fork(self):
        self.assertEqual(self.at_the_fork, self.at_first)


EXPORTED = HEAD + """
dd if=/share/pattern of=$disk bs=4096 seek=10 conv=notrunc,fsync
vpctl export disk folder/early.img
dd if=/share/pattern of=$disk bs=4096 seek=100 conv=notrunc,fsync
dd if=/share/pattern of=/dev/nvme0n2 bs=4096 conv=notrunc,fsync
vpctl export disk.2 second.img
"""


class Export(DiskCase):
    """What a child has written to its disk becomes an image: in the middle, by the guest, and at the end."""

    def test_each_child_has_its_images(self):
        content, pattern = image(1, MIB), image(2, 50_000)
        with tempfile.TemporaryDirectory(prefix="oae-vp-") as name:
            folder = pathlib.Path(name)
            (folder / "disk.img").write_bytes(content)
            run = machine.Children("--set", f"devices[0].namespaces=[{{image: {folder / 'disk.img'}, cache: 64KiB}}, {{size: 1MiB}}]",
                                   "--export", f"disk={folder / 'a.img'}", "--export", f"disk.2={folder / 'b.img'}", platform="disk",
                                   scripts={"written": EXPORTED, "idle": "true\n"}, check_rtl=False)
            (run.share / "pattern").write_bytes(pattern)
            run.finish()
            self.assertEqual(run.code, 0, run)
            self.assertEqual((folder / "a.img").read_bytes(), content)
            self.assertEqual((folder / "b.img").read_bytes(), bytes(MIB))
        written, idle = run.children["written"], run.children["idle"]
        early = bytearray(content)
        early[40960:40960 + len(pattern)] = pattern
        self.assertEqual(sum_of((written.share / "folder/early.img").read_bytes()), sum_of(early))
        late = bytearray(early)
        late[409600:409600 + len(pattern)] = pattern
        self.assertEqual(sum_of((written.folder / "disk.img").read_bytes()), sum_of(late))
        second = pattern + bytes(MIB - len(pattern))
        self.assertEqual(sum_of((written.folder / "disk.2.img").read_bytes()), sum_of(second))
        self.assertEqual(sum_of((written.share / "second.img").read_bytes()), sum_of(second))
        self.assertEqual(sum_of((idle.folder / "disk.img").read_bytes()), sum_of(content))


# What the platform file times, and a guest that reads all the time. The card is away for a second.
AT = {"fatal": 4_000_000_000_007, "remove": 7_000_000_000_000, "insert": 8_000_000_000_000}  # ps
TIMES = ("--set", f"devices[0].faults=[{{at: {AT['fatal']}ps, inject: fatal}}]",
         "--set", "pcie_links[1].hot_plug={capable: true, surprise: true, actions: [" +
         f"{{at: {AT['remove']}ps, action: remove}}, {{at: {AT['insert']}ps, action: insert}}]}}")
READING = HEAD + """
before() { [ $(cut -d . -f 1 /proc/uptime) -lt $1 ]; }
while before 6; do dd if=$disk of=/dev/null bs=4096 count=1 iflag=direct; sleep 0.1; done 2> /dev/null
dmesg -r > /share/fatal
await eval '! [ -e $disk ]'
await [ -e $disk ]
dd if=$disk of=/dev/null bs=4096 count=1 iflag=direct
"""


class Timed(DiskCase):
    """The platform file says when a disk fails, and when its card is removed."""

    def test_at_their_exact_times_for_every_quantum(self):
        traces = []
        for quantum in ("100us", "5us"):
            run = self.succeed(*TIMES, "--set", f"simulation.max_quantum={quantum}", platform="disk", script=READING,
                               append=IMPATIENT, trace=True, check_rtl=False)
            self.check_nothing_in_vain(run)
            states = [(line["state"], line["t"]) for line in run.trace if line.get("nvme") == "disk.controller" and "state" in line]
            self.assertIn(("fatal", AT["fatal"]), states)
            # The controller hears of it one way of the link later, and when what was on its way has arrived.
            lost = [t - AT["remove"] for state, t in states if state == "power lost"]
            self.assertTrue(len(lost) == 1 and 250_000 <= lost[0] < 400_000, states)
            self.assertEqual([t for state, t in states if state == "ready" and AT["remove"] < t < AT["insert"]], [])
            self.assertTrue(any(state == "ready" and t > AT["insert"] for state, t in states), states)
            self.assertIn("controller is down; will reset: CSTS=0x3", run.file("fatal"))
            traces.append(run.trace)
        self.assertListEqual(traces[0], traces[1])


if __name__ == "__main__":
    machine.main()
