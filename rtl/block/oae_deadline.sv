// SPDX-License-Identifier: Apache-2.0
// Watches the deadlines of all ports with one number: the earliest time at which a deadline may
// have passed. At that time every port is examined once, and those that still wait set the number
// again. A deadline that is met therefore costs nothing, and no port needs a timer.
module oae_deadline (
  input  logic        clock,
  input  logic        reset,
  input  logic [63:0] now,
  input  logic [6:0]  ports,
  input  logic        set,           // a port has a deadline at set_deadline
  input  logic [63:0] set_deadline,
  input  logic        reconsider,    // deadlines may be earlier than those that were set
  input  logic        look,          // the requested port is being examined
  output logic        watching,      // ports have to be examined
  output logic [5:0]  port,          // the next of them
  output logic        valid,
  output logic [63:0] deadline,
  output logic        busy
);

  logic due;
  assign due = valid && now >= deadline && !watching;
  assign busy = due || watching;

  always_ff @(posedge clock) begin
    if (reset) begin
      watching <= 1'b0;
      port <= '0;
      valid <= 1'b0;
      deadline <= '0;
    end else begin
      if (look) begin
        watching <= {1'b0, port} + 7'd1 < ports;
        port <= {1'b0, port} + 7'd1 < ports ? port + 6'd1 : '0;
      end
      if (due) begin
        watching <= 1'b1;
        valid <= 1'b0;
      end
      if (reconsider) begin
        watching <= 1'b1;
        port <= '0;
      end
      if (set && (!valid || set_deadline < deadline)) begin
        valid <= 1'b1;
        deadline <= set_deadline;
      end
    end
  end

`ifndef SYNTHESIS
  always_ff @(posedge clock)
    if (!reset && look) assert (watching) else $error("a port was looked at unasked");
`endif

endmodule
