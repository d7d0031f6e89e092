// SPDX-License-Identifier: Apache-2.0
// The event for the trace: a change of a journal's state, for one clock.
module oae_trace (
  input  logic        clock,
  input  logic        reset,
  input  logic [5:0]  port,
  input  logic [7:0]  state,         // state of the journal, enum port_state
  input  logic [7:0]  epoch,
  input  logic [31:0] sequence_last,

  // Events of the journal
  input  logic        begins_epoch,
  input  logic [7:0]  next_epoch,
  input  logic        commits,
  input  logic        exchanges,
  input  logic        reverses,
  input  logic        forgoes,
  input  logic        closes,

  output logic        trace_valid,
  output logic [5:0]  trace_port,
  output logic [7:0]  trace_epoch,
  output logic [31:0] trace_sequence,
  output logic [7:0]  trace_from,
  output logic [7:0]  trace_to
);

  always_ff @(posedge clock) begin
    trace_valid <= 1'b0;
    trace_port <= port;
    trace_epoch <= epoch;
    trace_sequence <= sequence_last;
    trace_from <= state;
    if (!reset) begin
      if (commits) begin
        trace_valid <= 1'b1;
        trace_to <= oae_registers::PORT_STATE_COMMITTED;
      end
      if (exchanges) begin
        trace_valid <= 1'b1;
        trace_sequence <= oae_types::following(sequence_last);
        trace_to <= oae_registers::PORT_STATE_TENTATIVE;
      end
      if (reverses || forgoes) begin
        trace_valid <= 1'b1;
        if (forgoes) trace_sequence <= oae_types::following(sequence_last);
        trace_to <= oae_registers::PORT_STATE_REVERSED;
      end
      if (closes) begin
        trace_valid <= 1'b1;
        trace_to <= oae_registers::PORT_STATE_CLOSED;
      end
      if (begins_epoch) begin
        trace_valid <= 1'b1;
        trace_epoch <= next_epoch;
        trace_sequence <= '0;
        trace_to <= oae_registers::PORT_STATE_IDLE;
      end
    end
  end

endmodule
