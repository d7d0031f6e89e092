// SPDX-License-Identifier: Apache-2.0
`timescale 1ps / 1ps
// A block for tests of the bridge. Its registers make its AXI4 master execute any burst, set its interrupt pins, and show
// what it has received. It checks the rules of the channels that the bridge drives.
//
//     0x000 memory of 256 bytes
//     0x100 SLVERR    0x180 DECERR    0x1c0 never answered
//     0x200 address of the next command
//     0x208 command: length 7:0, size 10:8, type 12:11, ID 19:16, write 24, sparse strobes 25, last flag too early 26,
//           strobe beyond the beat 27, interrupt pin 7 is high from the last beat's edge on 28
//     0x210 beats 15:0 and responses 31:16 received, commands 47:32 not answered
//     0x218 control: stalls of 256 clocks 7:0, seed 63:32; a write clears what was received
//     0x220 interrupt pins, which must not all be high at the end of the run
//     0x228 edges of the clock so far
//     0x230 $time at the last write of this register
//     0x238 forget interrupt pin 7            0x240 the next random number       0x248 $finish
//     0x2000 responses: ID 7:0, response 9:8            (8 bytes each)
//     0x4000 beats: ID 7:0, response 9:8, last 10       (8 bytes each)
//     0x8000 data of the beats, all lanes of each
//
// Lane l of beat b of write burst c, all counted from 0, has the byte 37 c + 11 b + 5 l + 1. Sparse strobes leave out the
// lanes for which c + 3 b + l * l is a multiple of 4.
module exerciser #(
    parameter int LITE = 32,
    parameter int DATA = 32
) (
    input logic aclk,
    input logic areset,

    input  logic              cfg_awvalid,
    output logic              cfg_awready,
    input  logic [      15:0] cfg_awaddr,
    input  logic [       2:0] cfg_awprot,
    input  logic              cfg_wvalid,
    output logic              cfg_wready,
    input  logic [  LITE-1:0] cfg_wdata,
    input  logic [LITE/8-1:0] cfg_wstrb,
    output logic              cfg_bvalid,
    input  logic              cfg_bready,
    output logic [       1:0] cfg_bresp,
    input  logic              cfg_arvalid,
    output logic              cfg_arready,
    input  logic [      15:0] cfg_araddr,
    input  logic [       2:0] cfg_arprot,
    output logic              cfg_rvalid,
    input  logic              cfg_rready,
    output logic [  LITE-1:0] cfg_rdata,
    output logic [       1:0] cfg_rresp,

    output logic              bus_awvalid,
    input  logic              bus_awready,
    output logic [       3:0] bus_awid,
    output logic [      63:0] bus_awaddr,
    output logic [       7:0] bus_awlen,
    output logic [       2:0] bus_awsize,
    output logic [       1:0] bus_awburst,
    output logic [       3:0] bus_awcache,
    output logic              bus_wvalid,
    input  logic              bus_wready,
    output logic [  DATA-1:0] bus_wdata,
    output logic [DATA/8-1:0] bus_wstrb,
    output logic              bus_wlast,
    input  logic              bus_bvalid,
    output logic              bus_bready,
    input  logic [       3:0] bus_bid,
    input  logic [       1:0] bus_bresp,
    output logic              bus_arvalid,
    input  logic              bus_arready,
    output logic [       3:0] bus_arid,
    output logic [      63:0] bus_araddr,
    output logic [       7:0] bus_arlen,
    output logic [       2:0] bus_arsize,
    output logic [       1:0] bus_arburst,
    input  logic              bus_rvalid,
    output logic              bus_rready,
    input  logic [       3:0] bus_rid,
    input  logic [  DATA-1:0] bus_rdata,
    input  logic [       1:0] bus_rresp,
    input  logic              bus_rlast,

    input  logic [3:0] strap,
    output logic [7:0] interrupts,
    output logic       quiet
);
  localparam int LANES = DATA / 8;
  localparam logic [63:0] LANE = 64'(LANES) - 64'd1;  // the bits of an address that are a lane
  localparam int BEATS = 32768 / LANES < 512 ? 32768 / LANES : 512;

  wire rst_n = !areset;

  typedef struct packed {
    logic        irq;
    logic        stray;
    logic        early;
    logic        sparse;
    logic [3:0]  id;
    logic [1:0]  burst;
    logic [2:0]  size;
    logic [7:0]  len;
    logic [63:0] address;
  } command_t;

  // Random stalls.
  logic [31:0] random;
  logic [7:0] stalls;
  wire [31:0] random1 = random ^ (random << 13);
  wire [31:0] random2 = random1 ^ (random1 >> 17);
  wire [31:0] random3 = random2 ^ (random2 << 5);
  wire go_aw = random[7:0] >= stalls;
  wire go_w = random[15:8] >= stalls;
  wire go_b = random[23:16] >= stalls;
  wire go_ar = random[31:24] >= stalls;
  wire go_r = random[11:4] >= stalls;
  wire go_cfg = random[19:12] >= stalls;

  // Registers.
  logic [7:0] memory[256];
  logic [7:0] received[32768];
  logic [15:0] beat_log[512];
  logic [15:0] response_log[64];
  logic [15:0] beats, responses, commands;
  logic [63:0] address, edges, stamp;
  logic [6:0] irq;
  logic irq_last;

  wire writes = cfg_awvalid && cfg_wvalid && !cfg_bvalid && go_cfg;
  wire reads = cfg_arvalid && !cfg_rvalid && go_cfg && cfg_araddr[15:6] != 10'h7;
  assign cfg_awready = writes;
  assign cfg_wready  = writes;
  assign cfg_arready = reads || cfg_araddr[15:6] == 10'h7;

  logic [63:0] data, mask, value;
  always_comb begin
    data = 64'b0;
    mask = 64'b0;
    for (int i = 0; i < LITE / 8; i++) begin
      for (int half = 0; half < 64 / LITE; half++) begin
        if (LITE == 64 || cfg_awaddr[2] == half[0]) begin
          data[8*(i+half*LITE/8)+:8] = cfg_wdata[8*i+:8];
          mask[8*(i+half*LITE/8)+:8] = {8{cfg_wstrb[i]}};
        end
      end
    end
  end

  wire [15:0] read_at = {cfg_araddr[15:3], 3'b0};
  wire [15:0] write_at = {cfg_awaddr[15:3], 3'b0};
  always_comb begin
    value = 64'b0;
    if (read_at < 16'h100) begin
      for (int i = 0; i < 8; i++) value[8*i+:8] = memory[read_at[7:0]+8'(i)];
    end else if (read_at >= 16'h8000) begin
      for (int i = 0; i < 8; i++) value[8*i+:8] = received[read_at[14:0]+15'(i)];
    end else if (read_at >= 16'h4000) begin
      value = 64'(beat_log[read_at[11:3]]);
    end else if (read_at >= 16'h2000) begin
      value = 64'(response_log[read_at[8:3]]);
    end else begin
      case (read_at)
        16'h200: value = address;
        16'h210: value = {16'b0, commands, responses, beats};
        16'h220: value = 64'(interrupts);
        16'h228: value = edges;
        16'h230: value = stamp;
        16'h240: value = 64'(random);
        16'h250: value = 64'(strap);
        default: value = 64'b0;
      endcase
    end
  end

  wire pushes = writes && write_at == 16'h208 && mask[0];
  wire clears = writes && write_at == 16'h218;

  always_ff @(posedge aclk) begin
    random <= random3;
    edges <= edges + 1;
    if (cfg_bready) cfg_bvalid <= 1'b0;
    if (writes) begin
      cfg_bvalid <= 1'b1;
      cfg_bresp <= write_at[15:7] == 9'h2 ? 2'b10 : write_at[15:7] == 9'h3 ? 2'b11 : 2'b00;
      if (write_at < 16'h100) begin
        for (int i = 0; i < 8; i++) if (mask[8*i]) memory[write_at[7:0]+8'(i)] <= data[8*i+:8];
      end
      case (write_at)
        16'h200: address <= (address & ~mask) | (data & mask);
        16'h218: begin
          if (mask[0]) stalls <= data[7:0];
          if (mask[32]) random <= data[63:32];
        end
        16'h220: irq <= data[6:0];
        16'h230: stamp <= $time;
        16'h248: $finish;
        default: ;
      endcase
    end
    if (cfg_rready) cfg_rvalid <= 1'b0;
    if (reads) begin
      cfg_rvalid <= 1'b1;
      cfg_rresp <= read_at[15:7] == 9'h2 ? 2'b10 : read_at[15:7] == 9'h3 ? 2'b11 : 2'b00;
      cfg_rdata <= LITE == 64 || !cfg_araddr[2] ? value[LITE-1:0] : value[63:64-LITE];
    end
    if (areset) begin
      random <= 32'h1;
      stalls <= 8'b0;
      cfg_bvalid <= 1'b0;
      cfg_rvalid <= 1'b0;
      edges <= 64'b0;
      irq <= 7'b0;
    end
  end

  // Commands: up to 32 wait.
  command_t waiting[32];
  logic waiting_writes[32];
  logic [5:0] pushed, popped;
  command_t writing[32];
  logic [5:0] write_pushed, write_popped;
  logic [7:0] burst_number, beat;

  wire [31:0] word = data[31:0];
  wire any = pushed != popped;
  command_t head;
  assign head = waiting[popped[4:0]];
  wire head_writes = waiting_writes[popped[4:0]];
  wire takes = any && (head_writes ? !bus_awvalid && go_aw : !bus_arvalid && go_ar);

  always_ff @(posedge aclk) begin
    if (pushes) begin
      waiting[pushed[4:0]] <= {word[28], word[27], word[26], word[25], word[19:16], word[12:11], word[10:8], word[7:0], address};
      waiting_writes[pushed[4:0]] <= word[24];
      pushed <= pushed + 6'd1;
    end
    if (bus_awready) bus_awvalid <= 1'b0;
    if (bus_arready) bus_arvalid <= 1'b0;
    if (takes) begin
      popped <= popped + 6'd1;
      if (head_writes) begin
        bus_awvalid <= 1'b1;
        {bus_awid, bus_awburst, bus_awsize, bus_awlen, bus_awaddr} <= {head.id, head.burst, head.size, head.len, head.address};
        writing[write_pushed[4:0]] <= head;
        write_pushed <= write_pushed + 6'd1;
      end else begin
        bus_arvalid <= 1'b1;
        {bus_arid, bus_arburst, bus_arsize, bus_arlen, bus_araddr} <= {head.id, head.burst, head.size, head.len, head.address};
      end
    end
    if (areset) begin
      pushed <= 6'b0;
      popped <= 6'b0;
      write_pushed <= 6'b0;
      bus_awvalid <= 1'b0;
      bus_arvalid <= 1'b0;
    end
  end
  assign bus_awcache = 4'b0011;

  // The data of writes. A beat that was offered stays.
  command_t present;
  assign present = writing[write_popped[4:0]];
  logic [63:0] bytes, begins, container;
  logic [DATA-1:0] next_data;
  logic [DATA/8-1:0] next_strobes;
  always_comb begin
    bytes = 64'd1 << present.size;
    container = bytes * (64'(present.len) + 64'd1);
    case (present.burst)
      2'd0: begins = present.address;
      2'd2: begins = (present.address & ~(container - 64'd1)) | ((present.address + 64'(beat) * bytes) & (container - 64'd1));
      default: begins = beat == 8'd0 ? present.address : (present.address & ~(bytes - 64'd1)) + 64'(beat) * bytes;
    endcase
    for (int lane = 0; lane < LANES; lane++) begin
      next_data[8*lane+:8] = 8'd37 * burst_number + 8'd11 * beat + 8'd5 * 8'(lane) + 8'd1;
      next_strobes[lane] = 64'(lane) >= (begins & LANE) &&
          64'(lane) < ((begins & ~(bytes - 64'd1)) & LANE) + bytes &&
          !(present.sparse && ((burst_number + 8'd3 * beat + 8'(lane) * 8'(lane)) & 8'd3) == 8'd0);
      // In a beat that begins at lane 0, the last lane is beyond it, unless it fills all lanes.
      if (present.stray && lane == LANES - 1) next_strobes[lane] = 1'b1;
    end
  end
  wire beats_left = write_pushed != write_popped;
  wire offers = beats_left && !bus_wvalid && go_w;
  logic last_beat, offered_irq;

  always_ff @(posedge aclk) begin
    if (bus_wready) bus_wvalid <= 1'b0;
    if (offers) begin
      bus_wvalid <= 1'b1;
      bus_wdata <= next_data;
      bus_wstrb <= next_strobes;
      last_beat <= beat == present.len;
      offered_irq <= present.irq;
      bus_wlast <= present.early ? beat == 8'd0 : beat == present.len;
      beat <= beat + 8'd1;
      if (beat == present.len) begin
        beat <= 8'd0;
        write_popped <= write_popped + 6'd1;
        burst_number <= burst_number + 8'd1;
      end
    end
    if (bus_wvalid && bus_wready && last_beat && offered_irq) irq_last <= 1'b1;
    if (writes && write_at == 16'h238) irq_last <= 1'b0;
    if (clears) burst_number <= 8'd0;
    if (areset) begin
      bus_wvalid <= 1'b0;
      beat <= 8'd0;
      write_popped <= 6'b0;
      burst_number <= 8'd0;
      irq_last <= 1'b0;
    end
  end
  // The pin is high at the very edge at which the last beat is accepted.
  assign interrupts = {irq_last || (bus_wvalid && bus_wready && last_beat && offered_irq), irq};

  // What comes back.
  always_ff @(posedge aclk) begin
    bus_bready <= go_b;
    bus_rready <= go_r;
    if (bus_bvalid && bus_bready) begin
      response_log[responses[5:0]] <= {6'b0, bus_bresp, 4'b0, bus_bid};
      responses <= responses + 16'd1;
    end
    if (bus_rvalid && bus_rready) begin
      if (32'(beats) < BEATS) begin
        beat_log[beats[8:0]] <= {5'b0, bus_rlast, bus_rresp, 4'b0, bus_rid};
        for (int i = 0; i < LANES; i++) received[15'(32'(beats)*LANES+i)] <= bus_rdata[8*i+:8];
      end
      beats <= beats + 16'd1;
    end
    commands <= commands + 16'(pushes) - 16'(bus_bvalid && bus_bready) - 16'(bus_rvalid && bus_rready && bus_rlast);
    if (clears) begin
      beats <= 16'd0;
      responses <= 16'd0;
    end
    if (areset) begin
      bus_bready <= 1'b0;
      bus_rready <= 1'b0;
      beats <= 16'd0;
      responses <= 16'd0;
      commands <= 16'd0;
    end
  end

  // The clock may stop while commands wait for their answers, since an answer lets it run.
  assign quiet = !any && !beats_left && !bus_awvalid && !bus_arvalid && !bus_wvalid && !cfg_bvalid && !cfg_rvalid;

  held #(16) aw (.clk(aclk), .rst_n, .valid(cfg_awvalid), .ready(cfg_awready), .payload(cfg_awaddr));
  held #(LITE + LITE / 8) w (.clk(aclk), .rst_n, .valid(cfg_wvalid), .ready(cfg_wready), .payload({cfg_wdata, cfg_wstrb}));
  held #(16) ar (.clk(aclk), .rst_n, .valid(cfg_arvalid), .ready(cfg_arready), .payload(cfg_araddr));
  held #(6) b (.clk(aclk), .rst_n, .valid(bus_bvalid), .ready(bus_bready), .payload({bus_bid, bus_bresp}));
  held #(DATA + 7) r (.clk(aclk), .rst_n, .valid(bus_rvalid), .ready(bus_rready), .payload({bus_rid, bus_rresp, bus_rlast, bus_rdata}));

  // An access of the bridge is aligned, and nothing is driven in a reset.
  always_ff @(posedge aclk) begin
    if (areset) assert (!cfg_awvalid && !cfg_wvalid && !cfg_arvalid && !bus_bvalid && !bus_rvalid);
    if (cfg_awvalid) assert (32'(cfg_awaddr) % (LITE / 8) == 0 && cfg_awprot == 3'b0);
    if (cfg_arvalid) assert (32'(cfg_araddr) % (LITE / 8) == 0 && cfg_arprot == 3'b0);
  end

  // A block may also check something when the run is over.
  final assert (irq != 7'h7f) else $error("all pins are high at the end");
endmodule
