# SPDX-License-Identifier: Apache-2.0
"""Figures of the link between two IPUs: two models of its ends, joined by a wire, and the RTL alone, also of the design
with a window and of chains of its cells. Times in ps."""

import json
import pathlib
import subprocess
import tempfile
from typing import Callable, Dict, List, Tuple

from figures.table import Failure, Requirement, Table, ns, rtts, us

METRE = 5_000  # ps
RATES = (100, 200, 400)  # Gb/s
METRES = (1, 10)
WIDTHS = (1, 2, 4, 8)  # slices a clock, of the RTL
CHAINS = (2, 4, 8)  # links of a chain
SLOT = 512  # bits on the wire
SECONDS_AT_MOST = 120  # of wall time, for one program

# The published use of a wire by a sender that waits for each acknowledgement: percent, by length in metres.
PUBLISHED_USE = {1: "35", 10: "6.2"}
REQUIREMENTS = "the Open Atomic Ethernet requirements"

# The steps of a transfer of one slot: name, whether it is a flow, key, and the number of passes over the wire.
STEPS = (
    ("slice 0 back at the sender", False, "reflected", 2),
    ("packet whole at the receiver, tentative", False, "tentative", 1),
    ("third phase: the receiver has committed", False, "committed", 3),
    ("fourth phase: the sender has committed", False, "settled", 4),
    ("one-phase flow: the receiver has committed", True, "committed", 1),
    ("one-phase flow: the sender has settled", True, "settled", 2),
)


def run(command: List[str]) -> str:
    try:
        ended = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               timeout=SECONDS_AT_MOST)  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as failure:
        raise Failure(str(failure)) from None
    if ended.returncode != 0:
        raise Failure(f"{command[0]}: exit code {ended.returncode}: {ended.stdout[-2000:].strip()}")
    return ended.stdout


def measure_models(build: pathlib.Path, progress: Callable[[str], None]) -> Dict[int, Dict[int, dict]]:
    """Figures of the models, by rate in Gb/s and length in metres."""
    program = str(build / "cmake" / "tests" / "models" / "oae" / "figures_oae_link")
    found: Dict[int, Dict[int, dict]] = {}
    for rate in RATES:
        for metres in METRES:
            progress(f"two models, {rate} Gb/s, {metres} m")
            said = run([program, str(rate * 10**9), str(metres * METRE)])
            line = next((line for line in said.splitlines() if line.startswith("{")), None)
            if line is None:
                raise Failure(f"{program} printed nothing")
            found.setdefault(rate, {})[metres] = json.loads(line)
    return found


def measure_rtl(build: pathlib.Path, progress: Callable[[str], None]) -> Dict[int, Dict[str, Dict[str, float]]]:
    """Records of tests/rtl/transfer/rate_test.cpp at 100 Gb/s, by slices a clock and test case; times in ns."""
    found = {}
    for width in WIDTHS:
        progress(f"the RTL alone, slices a clock: {width}")
        found[width] = cases_of(build / "cmake" / "tests" / "rtl" / "transfer" / f"rtl_link_{width}_test", "LinkRate*")
    return found


def measure_window(build: pathlib.Path, progress: Callable[[str], None]) -> Dict[str, Dict[str, float]]:
    """Records of tests/rtl/link/rate_test.cpp at 100 Gb/s, by test case; times in ns."""
    progress("the RTL alone, with a window")
    return cases_of(build / "cmake" / "tests" / "rtl" / "link" / "rtl_link_100g_test", "Rate1.*:Rate10.*")


def measure_chain(build: pathlib.Path, progress: Callable[[str], None]) -> Dict[int, Dict[str, float]]:
    """Records of tests/rtl/relay/time_test.cpp at 100 Gb/s, by the number of links; times in ns."""
    progress("the RTL alone, in chains")
    found = cases_of(build / "cmake" / "tests" / "rtl" / "relay" / "rtl_relay_2_test", "Hops/Time.*")
    # The first case has two links.
    return {links: found[f"Hops/Time.OfOneSlot/{links - 2}"] for links in CHAINS}


def cases_of(program: pathlib.Path, cases: str) -> Dict[str, Dict[str, float]]:
    """The recorded properties of these cases of a GoogleTest program."""
    with tempfile.TemporaryDirectory(prefix="oae-vp-figures.") as folder:
        results = pathlib.Path(folder) / "results.json"
        run([str(program), f"--gtest_filter={cases}", f"--gtest_output=json:{results}"])
        return recorded(json.loads(results.read_text()))


def recorded(results: dict) -> Dict[str, Dict[str, float]]:
    """The recorded properties of each case in GoogleTest's JSON: all numbers in strings."""
    found = {}
    for suite in results["testsuites"]:
        for case in suite["testsuite"]:
            values = {}
            for name, value in case.items():
                try:
                    values[name] = float(value) if isinstance(value, str) else None
                except ValueError:
                    values[name] = None
            found[f"{suite['name']}.{case['name']}"] = {
                name: value for name, value in values.items() if value is not None
            }
    return found


def transfer(of: dict, flow: bool, beats: int = 1) -> dict:
    return next(one for one in of["transfers"] if one["flow"] == flow and one["beats"] == beats)


def use(of: dict, flow: bool, beats: int) -> float:
    """Use of the wire to the other side in percent, if the next transfer begins when this one is settled."""
    return 100 * beats * SLOT * 10**12 / of["rate"] / transfer(of, flow, beats)["settled"]


def steps_table(models: Dict[int, Dict[int, dict]]) -> Table:
    near, far = (models[100][metres] for metres in METRES)
    rows = []
    for name, flow, key, ways in STEPS:
        texts = [str(ways)]
        for of in (near, far):
            time = transfer(of, flow)[key]
            texts += [ns(time), rtts(time, 2 * of["delay"])]
        rows.append((name, texts + [ns(transfer(near, flow)[key] - ways * near["delay"])]))
    columns = ["ways"]
    for metres in METRES:
        columns += [f"{metres} m, ns", "RTT"]
    return Table(
        f"A slot over the link, 100 Gb/s, 8 slices a clock of {ns(near['clock'])} ns; from the first slice on the wire",
        columns + ["ends, ns"],
        rows,
        [
            "ways: how often it passes the wire, of 5 ns a metre; an RTT is two of them.",
            "ends: what is left of 1 m, the time in the two ends. Firmware, which moves slots, is not in it.",
        ],
    )


def rates_table(models: Dict[int, Dict[int, dict]]) -> Table:
    columns = [f"{rate}, {metres} m" for metres in METRES for rate in RATES]
    rows = []
    for name, flow, key, _ in STEPS:
        rows.append((name, [ns(transfer(models[rate][metres], flow)[key]) for metres in METRES for rate in RATES]))
    return Table("The same by rate, in Gb/s, and length; in ns", columns, rows)


def use_table(models: Dict[int, Dict[int, dict]]) -> Table:
    rows: List[Tuple[str, List[str]]] = [("published", [PUBLISHED_USE[metres] for metres in METRES] + ["", ""])]
    for beats in (1, 4, 16, 64):
        texts = [f"{use(models[100][metres], flow, beats):.1f}" for flow in (True, False) for metres in METRES]
        rows.append((f"{beats} slots" if beats > 1 else "1 slot", texts))
    return Table(
        "Use of a wire of 100 Gb/s by stop and wait: percent, and so Gb/s, by slots of a transfer",
        [f"{name}, {metres} m" for name in ("one phase", "four phases") for metres in METRES],
        rows,
        [f"published: {REQUIREMENTS}, of 64 bytes that wait for their acknowledgement."],
    )


def widths_table(rtl: Dict[int, Dict[str, Dict[str, float]]]) -> Table:
    names = ("reflection_ns", "tentative_ns", "committed_ns", "settled_ns", "flow_settled_ns")
    rows = []
    for width in WIDTHS:
        times, uses = (rtl[width][f"LinkRate1.{case}"] for case in ("LatenciesMeetTheirTargets", "BeatsRecoverTheWire"))
        texts = [f"{1e3 / (width * 0.64):,.0f}"] + [f"{times[name]:.1f}" for name in names]
        texts += [f"{uses[name]:.1f}" for name in ("beats_1", "by_slices", "beats_64")]
        rows.append((f"{width} a clock", texts))
    return Table(
        "The RTL alone by slices a clock, 100 Gb/s, 1 m; in ns",
        ["MHz", "reflected", "tentative", "committed", "settled", "flow settled", "use by 1, %", "early, %", "by 64, %"],
        rows,
        [
            "Pin to pin, and the wire rounded to slices; the model of an end has slices leave after the edge that shows",
            "them, which is a clock more each way. use: of the wire, by one-phase flows of 1 and 64 slots; early: by 1,",
            "if the next went with the acknowledgement of the last slice.",
        ],
    )


def window_table(window: Dict[str, Dict[str, float]]) -> Table:
    one = window["Rate1.LatencyOfOneSlot"]
    rows = [
        ("of the wire, one way, %", [f"{window[f'Rate{m}.OneWay']['percent_one_way']:.1f}" for m in METRES]),
        ("of each wire, both ways, %", [f"{window[f'Rate{m}.BothWays']['percent_both_ways']:.1f}" for m in METRES]),
        ("a slot: the receiver holds it, tentative", [f"{one['held_ns']:.1f}", ""]),
        ("  the receiver has committed", [f"{one['committed_ns']:.1f}", ""]),
        ("  the sender has settled", [f"{one['settled_ns']:.1f}",
                                      f"{window['Rate10.SendToAcknowledgement']['settled_ns']:.1f}"]),
    ]  # fmt: skip
    return Table(
        "The design with a window, the RTL alone: 100 Gb/s, 2 slices a clock of 1.28 ns; in ns",
        [f"{metres} m" for metres in METRES],
        rows,
        ["Single slots, each committed at both ends or at neither. Returns and idle groups take the rest of the wire."],
    )


def chain_table(chain: Dict[int, Dict[str, float]]) -> Table:
    names = (
        ("one hop through a cell, cut through", "hop_1_ns"),
        ("a slot: the last cell holds it, tentative", "held_ns"),
        ("  the last cell has committed", "committed_ns"),
        ("  the first cell has settled", "settled_ns"),
    )
    return Table(
        "Chains of the design with a window, the RTL alone: 100 Gb/s, 2 slices a clock of 1.28 ns, links of 1 m; in ns",
        [f"{links} links" for links in CHAINS],
        [(name, [f"{chain[links][key]:.1f}" for links in CHAINS]) for name, key in names],
        [
            "A hop: from the edge at which a frame's head leaves a cell until that at which it leaves the next one.",
            "In a platform, a hop takes a clock more.",
        ],
    )


def failures_table(models: Dict[int, Dict[int, dict]]) -> Table:
    ends = [models[100][metres] for metres in METRES]
    short, long = ([of["silence"][i] for of in ends] for i in (0, 1))
    doubts = [of["doubt"] for of in ends]
    rows = [
        ("idle wire cut, down is reported after", [f"{us(each['noticed'])} us" for each in long]),
        ("  with a limit of silence of", [f"{each['slices']} slices" for each in short]),
        ("  after", [f"{us(each['noticed'])} us" for each in short]),
        ("transfers cut, at each clock of one", [str(each["cuts"]) for each in doubts]),
        ("  reversed as the link goes down", [str(each["reversed_at_once"]) for each in doubts]),
        ("  in doubt until it is back", [str(each["in_doubt"]) for each in doubts]),
        ("    committed then", [str(each["committed"]) for each in doubts]),
        ("    reversed then", [str(each["in_doubt"] - each["committed"]) for each in doubts]),
        ("wire whole again after", [f"{us(each['outage'])} us" for each in doubts]),
        ("  settled after that, at most", [f"{us(each['settled_after'])} us" for each in doubts]),
        ("  both ends up after that", [f"{us(each['up_after'])} us" for each in doubts]),
    ]
    return Table(
        "A link of 100 Gb/s that fails",
        [f"{metres} m" for metres in METRES],
        rows,
        [
            f"The limit of silence is {long[0]['slices']} slices if firmware sets none. Doubt across a dead wire lasts",
            "as long as the wire is dead; firmware may settle it earlier by what it learns by another route.",
        ],
    )


def requirements(
    models: Dict[int, Dict[int, dict]], window: Dict[str, Dict[str, float]], chain: Dict[int, Dict[str, float]]
) -> List[Requirement]:
    near, far = (models[100][metres] for metres in METRES)

    def both(flow: bool, key: str) -> List[int]:
        return [transfer(of, flow)[key] for of in (near, far)]

    flow, commit, acknowledged = both(True, "committed"), both(False, "committed"), both(False, "settled")
    rate, best = use(near, False, 1), use(near, False, 64)
    many = window["Rate1.OneWay"]["percent_one_way"]  # and so Gb/s
    hop = max(time for of in chain.values() for name, time in of.items() if name.startswith("hop_"))
    found = [
        Requirement(
            "64 bytes committed at the line rate of 100 Gb/s", REQUIREMENTS,
            f"one transfer is under way at a time: {rate:.1f} Gb/s over 1 m by transfers of one slot, {best:.1f} by "
            "those of 64", rate >= 100,
        ),
        Requirement(
            "64 bytes committed at the line rate of 100 Gb/s, with a window", REQUIREMENTS,
            f"the wire is full: {many:.1f} Gb/s over 1 m by single slots, and returns take the rest", many >= 100,
        ),
        Requirement(
            "a hop below 50 ns, cut through, with a window, over 1 m", REQUIREMENTS, f"{hop:.2f} ns", hop < 50
        ),
    ]  # fmt: skip
    for what, limit, times in (
        ("a hop below 100 ns, store and forward, of a one-phase flow", 100, flow),
        ("a hop below 100 ns, store and forward, of a slot that is committed first", 100, commit),
        ("send to acknowledgement below 300 ns in a rack, four phases", 300, acknowledged),
    ):
        for metres, time in zip(METRES, times):
            met = time < limit * 1000
            found.append(Requirement(f"{what}, over {metres} m", REQUIREMENTS, f"{ns(time)} ns", met))
    return found


def results(build: pathlib.Path, progress: Callable[[str], None]) -> Tuple[List[Table], List[Requirement], dict]:
    """The tables, the requirements and all measurements."""
    measures = (measure_models, measure_rtl, measure_window, measure_chain)
    models, rtl, window, chain = (measure(build, progress) for measure in measures)
    tables = [
        steps_table(models), rates_table(models), use_table(models), widths_table(rtl), window_table(window),
        chain_table(chain), failures_table(models),
    ]  # fmt: skip
    return tables, requirements(models, window, chain), {"models": models, "rtl": rtl, "window": window, "chain": chain}
