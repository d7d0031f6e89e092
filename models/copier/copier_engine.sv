// SPDX-License-Identifier: Apache-2.0
// The engine of the copier. It copies pieces of up to 64 bytes: it reads a piece as one burst, shifts it from the lanes of
// the source to those of the destination, writes it as one burst, and waits for the response. A piece crosses 4 KiB
// neither at the source nor at the destination.
module copier_engine (
    input logic clk,
    input logic rst_n,

    input  logic        start,
    input  logic [63:0] source,
    input  logic [63:0] destination,
    input  logic [31:0] length,
    output logic        busy,
    output logic        finished,
    output logic        failed,
    output logic [31:0] copied,

    output logic        m_axi_awvalid,
    input  logic        m_axi_awready,
    output logic [63:0] m_axi_awaddr,
    output logic [ 7:0] m_axi_awlen,
    output logic [ 2:0] m_axi_awsize,
    output logic [ 1:0] m_axi_awburst,
    output logic        m_axi_wvalid,
    input  logic        m_axi_wready,
    output logic [63:0] m_axi_wdata,
    output logic [ 7:0] m_axi_wstrb,
    output logic        m_axi_wlast,
    input  logic        m_axi_bvalid,
    output logic        m_axi_bready,
    input  logic [ 1:0] m_axi_bresp,
    output logic        m_axi_arvalid,
    input  logic        m_axi_arready,
    output logic [63:0] m_axi_araddr,
    output logic [ 7:0] m_axi_arlen,
    output logic [ 2:0] m_axi_arsize,
    output logic [ 1:0] m_axi_arburst,
    input  logic        m_axi_rvalid,
    output logic        m_axi_rready,
    input  logic [63:0] m_axi_rdata,
    input  logic [ 1:0] m_axi_rresp,
    input  logic        m_axi_rlast
);
  localparam int PIECE = 64;  // bytes
  localparam int WORDS = PIECE / 8 + 1;  // that a piece which is not aligned touches
  localparam logic [2:0] EIGHT_BYTES = 3'd3;
  localparam logic [1:0] INCR = 2'd1;

  typedef enum logic [2:0] {IDLE, BEGIN, READ, SHIFT, WRITE, RESPONSE} state_t;
  state_t state;

  logic [63:0] from, to;
  logic [31:0] left;
  logic [64*WORDS-1:0] words;
  logic [8*WORDS-1:0] strobes;
  logic [3:0] beats;  // that were read, or that are left to be written
  logic bad;  // the data of this piece did not arrive

  // The size of the next piece.
  wire [12:0] to_page = 13'h1000 - {1'b0, to[11:0]};
  wire [12:0] from_page = 13'h1000 - {1'b0, from[11:0]};
  wire [12:0] page = to_page < from_page ? to_page : from_page;
  wire [12:0] most = page < 13'(PIECE) ? page : 13'(PIECE);
  wire [6:0] piece = left < 32'(most) ? left[6:0] : most[6:0];
  wire [3:0] read_beats = 4'((piece + 7'(from[2:0]) + 7'd7) >> 3);
  wire [3:0] write_beats = 4'((piece + 7'(to[2:0]) + 7'd7) >> 3);

  assign busy = state != IDLE;
  assign m_axi_araddr = from;
  assign m_axi_arlen = 8'(read_beats) - 8'd1;
  assign m_axi_arsize = EIGHT_BYTES;
  assign m_axi_arburst = INCR;
  assign m_axi_rready = state == READ;
  assign m_axi_awaddr = to;
  assign m_axi_awlen = 8'(write_beats) - 8'd1;
  assign m_axi_awsize = EIGHT_BYTES;
  assign m_axi_awburst = INCR;
  assign m_axi_wdata = words[63:0];
  assign m_axi_wstrb = strobes[7:0];
  assign m_axi_wlast = beats == 4'd1;
  assign m_axi_bready = state == RESPONSE;

  wire end_of_writes = (!m_axi_awvalid || m_axi_awready) && (!m_axi_wvalid || (m_axi_wready && m_axi_wlast));
  wire last_piece = left == 32'(piece);
  wire refused = m_axi_bresp[1];

  always_ff @(posedge clk) begin
    finished <= 1'b0;
    case (state)
      IDLE:
      if (start) begin
        from <= source;
        to <= destination;
        left <= length;
        copied <= 32'b0;
        failed <= 1'b0;
        bad <= 1'b0;
        state <= BEGIN;
      end
      BEGIN:
      if (left == 32'b0) begin
        finished <= 1'b1;
        state <= IDLE;
      end else begin
        m_axi_arvalid <= 1'b1;
        beats <= 4'd0;
        state <= READ;
      end
      READ: begin
        if (m_axi_arready) m_axi_arvalid <= 1'b0;
        if (m_axi_rvalid) begin
          words[{beats, 6'b0}+:64] <= m_axi_rdata;
          beats <= beats + 4'd1;
          bad <= bad || m_axi_rresp[1];
          if (m_axi_rlast) state <= SHIFT;
        end
      end
      SHIFT:
      if (bad) begin
        failed <= 1'b1;
        finished <= 1'b1;
        state <= IDLE;
      end else begin
        words <= (words >> {from[2:0], 3'b0}) << {to[2:0], 3'b0};
        strobes <= ((72'd1 << piece) - 72'd1) << to[2:0];
        beats <= write_beats;
        m_axi_awvalid <= 1'b1;
        m_axi_wvalid <= 1'b1;
        state <= WRITE;
      end
      WRITE: begin
        if (m_axi_awready) m_axi_awvalid <= 1'b0;
        if (m_axi_wvalid && m_axi_wready) begin
          words <= words >> 64;
          strobes <= strobes >> 8;
          beats <= beats - 4'd1;
          m_axi_wvalid <= !m_axi_wlast;
        end
        if (end_of_writes) state <= RESPONSE;
      end
      default:
      if (m_axi_bvalid) begin
        from <= from + 64'(piece);
        to <= to + 64'(piece);
        left <= left - 32'(piece);
        if (!refused) copied <= copied + 32'(piece);
        failed <= refused;
        finished <= refused || last_piece;
        state <= refused || last_piece ? IDLE : BEGIN;
      end
    endcase

    if (!rst_n) begin
      state <= IDLE;
      finished <= 1'b0;
      failed <= 1'b0;
      copied <= 32'b0;
      m_axi_arvalid <= 1'b0;
      m_axi_awvalid <= 1'b0;
      m_axi_wvalid <= 1'b0;
    end
  end

  wire unused = &{m_axi_bresp[0], m_axi_rresp[0]};
endmodule
