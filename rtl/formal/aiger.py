# SPDX-License-Identifier: Apache-2.0
"""Circuits in the binary format AIGER 1.9, as yosys writes them and ABC reads them."""

import dataclasses
import pathlib
import re
from typing import Dict, Iterator, List, Tuple


@dataclasses.dataclass
class Circuit:
    inputs: int
    latches: List[int]                # the literal that each takes next; all are 0 in the beginning
    bad: List[int]                    # the literals of the assertions, true if one is violated
    constraints: List[int]
    gates: List[Tuple[int, int]]

    @classmethod
    def read(cls, path: pathlib.Path) -> "Circuit":
        content = path.read_bytes()
        at = 0

        def line() -> List[str]:
            nonlocal at
            end = content.index(b"\n", at)
            at, begun = end + 1, at
            return content[begun:end].decode().split()

        def number() -> int:
            nonlocal at
            value = shift = 0
            while True:
                value |= (content[at] & 0x7F) << shift
                shift += 7
                at += 1
                if not content[at - 1] & 0x80:
                    return value

        header = [int(each) for each in line()[1:]] + [0, 0]
        _, inputs, latches, outputs, gates, bad, constraints = header[:7]
        next_states = [int(line()[0]) for _ in range(latches)]
        for _ in range(outputs):
            line()
        bad_literals = [int(line()[0]) for _ in range(bad)]
        constraint_literals = [int(line()[0]) for _ in range(constraints)]
        operands = []
        for i in range(gates):
            left = 2 * (inputs + latches + 1 + i) - number()
            operands.append((left, left - number()))
        return cls(inputs, next_states, bad_literals, constraint_literals, operands)

    def fixed(self, values: Dict[int, int]) -> "Circuit":
        """The circuit in which these literals are constants."""
        values = {**values, **{literal ^ 1: 1 - value for literal, value in values.items()}}
        return Circuit(self.inputs, *([values.get(each, each) for each in literals]
                                      for literals in (self.latches, self.bad, self.constraints)),
                       [(values.get(left, left), values.get(right, right)) for left, right in self.gates])

    def selected(self, bad: List[int]) -> "Circuit":
        """The circuit with only some of its assertions."""
        return dataclasses.replace(self, bad=[self.bad[each] for each in bad])

    def write(self, path: pathlib.Path) -> None:
        result = bytearray()

        def add(*numbers: int) -> None:
            result.extend((" ".join(map(str, numbers)) + "\n").encode())

        gates = len(self.gates)
        size = self.inputs + len(self.latches) + gates
        result.extend(b"aig ")
        add(size, self.inputs, len(self.latches), 0, gates, len(self.bad), len(self.constraints))
        for literal in (*self.latches, *self.bad, *self.constraints):
            add(literal)
        for i, pair in enumerate(self.gates):
            right, left = sorted(pair)
            for number in (2 * (size - gates + 1 + i) - left, left - right):
                while number > 0x7F:
                    result.append(number & 0x7F | 0x80)
                    number >>= 7
                result.append(number)
        path.write_bytes(result)

    def simulated(self, inputs: List[List[int]]) -> Iterator[List[int]]:
        """The value of each literal in each clock, for the inputs of each clock."""
        state = [0] * len(self.latches)
        for clock in inputs:
            values = [0, 1]
            for bit in (*clock, *state):
                values += (bit, 1 - bit)
            for left, right in self.gates:
                bit = values[left] & values[right]
                values += (bit, 1 - bit)
            state = [values[literal] for literal in self.latches]
            yield values


class Names:
    """The names of inputs, registers and wires, from the map that yosys writes beside a circuit."""

    def __init__(self, path: pathlib.Path, circuit: Circuit):
        self.literals: Dict[str, Dict[int, int]] = {}
        for kind, index, bit, name in re.findall(r"(?m)^(\w+) (\d+) (\d+) (\S+)", path.read_text()):
            index, bit = int(index), int(bit)
            if kind == "input":
                self.literals.setdefault(name, {})[bit] = 2 * (index + 1)
            elif kind in ("latch", "invlatch"):
                self.literals.setdefault(name, {})[bit] = 2 * (circuit.inputs + index + 1) + (kind == "invlatch")
            elif kind == "wire":
                self.literals.setdefault(name, {})[bit] = index

    def value(self, name: str, values: List[int]) -> int:
        return sum(values[literal] << bit for bit, literal in self.literals[name].items())
