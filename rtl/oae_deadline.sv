// SPDX-License-Identifier: Apache-2.0
// Watches over the deadlines of all ports with one number: the earliest time at which one may have
// passed. When it comes, every port is looked at once, and those that still wait set it anew. So a
// deadline that is met costs nothing, and no port needs a timer.
module oae_deadline (
  input  logic        clock,
  input  logic        reset,
  input  logic [63:0] now,
  input  logic [6:0]  ports,
  input  logic        set,           // a port waits until set_deadline
  input  logic [63:0] set_deadline,
  input  logic        reconsider,    // deadlines may be earlier than was said
  input  logic        look,          // the port asked for is being looked at
  output logic        watching,      // ports are to be looked at
  output logic [5:0]  port,          // which
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
      if (set && (!valid || due || set_deadline < deadline)) begin
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
