// SPDX-License-Identifier: Apache-2.0
// Interrupts of the ports to the host. Each port has a pending bit and a vector, so that nothing else
// waits while an interrupt cannot leave. The ports take turns. A port that signals again while its bit is
// set sends one interrupt for both, with the later vector.
module oae_interrupts #(
  parameter int unsigned PORTS = 64
) (
  input  logic        clock,
  input  logic        reset,
  input  logic        signal,           // this port interrupts the host
  input  logic        forget,           // its pending interrupt is dropped
  /* verilator lint_off UNUSEDSIGNAL */ // few ports need few bits
  input  logic [5:0]  port,
  /* verilator lint_on UNUSEDSIGNAL */
  input  logic [15:0] signal_vector,
  output logic        valid,
  input  logic        ready,
  output logic [15:0] vector,
  output logic        busy
);

  localparam int unsigned BITS = PORTS > 1 ? $clog2(PORTS) : 1;

  logic [PORTS-1:0] pending;
  logic [15:0]      vectors [PORTS];
  logic [BITS-1:0]  last;               // the port of the last interrupt
  logic [BITS-1:0]  next;

  // The first pending port after the last one, or else the first pending port. A simulation runs these
  // loops only while there is one.
  always_comb begin
    next = '0;
    if (pending != '0) begin
      for (int i = PORTS - 1; i >= 0; i--)
        if (pending[i]) next = BITS'(i);
      for (int i = PORTS - 1; i >= 0; i--)
        if (pending[i] && BITS'(i) > last) next = BITS'(i);
    end
  end

  assign busy = valid || pending != '0;

  always_ff @(posedge clock)
    if (signal) vectors[port[BITS-1:0]] <= signal_vector;

  always_ff @(posedge clock) begin
    if (reset) begin
      pending <= '0;
      last <= '0;
      valid <= 1'b0;
      vector <= '0;
    end else begin
      if (ready) valid <= 1'b0;
      if ((!valid || ready) && pending != '0) begin
        valid <= 1'b1;
        vector <= vectors[next];
        last <= next;
        pending[next] <= 1'b0;
      end
      if (signal) pending[port[BITS-1:0]] <= 1'b1;
      if (forget) pending[port[BITS-1:0]] <= 1'b0;
    end
  end

`ifndef SYNTHESIS
  logic        held;                    // an interrupt that was not accepted must not change
  logic [15:0] held_vector;
  always_ff @(posedge clock) begin
    held <= !reset && valid && !ready;
    held_vector <= vector;
    if (!reset && held)
      assert (valid && vector == held_vector) else $error("an interrupt was withdrawn");
  end
`endif

endmodule
