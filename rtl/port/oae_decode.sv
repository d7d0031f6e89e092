// SPDX-License-Identifier: Apache-2.0
// Selects the next operation and decodes its address. Host, firmware, the deadline watch and the bridge
// take turns, so that each waits for at most one operation of each of the others, and for a reset of the
// function.
module oae_decode (
  input  logic [6:0]         ports,
  input  oae_types::source_t last,            // the source of the last request

  input  logic               host_waits,
  input  logic [2:0]         request_bar,     // 0, 2 or 4
  input  logic [11:0]        request_line,    // address[17:6]
  input  logic               request_reset,   // a reset of the function, port by port
  input  logic [5:0]         reset_port,
  input  logic               firmware_waits,
  input  logic [13:0]        access_word,     // address[16:3]
  input  logic               watch_waits,
  input  logic [5:0]         watch_port,
  input  logic               bridge_waits,
  input  logic [1:0]         bridge_errand,   // enum errand_t
  input  logic [5:0]         bridge_port,

  output oae_types::source_t source,
  output oae_types::target_t target,
  output logic [5:0]         port             // 0 if it concerns no port
);

  localparam logic [11:0] HOST_PORTS = 12'(oae_registers::HOST_PORT_CONTROL >> 6);
  localparam logic [13:0] FIRMWARE_PORTS = 14'(oae_registers::FIRMWARE_OFFER >> 3);
  localparam logic [5:0] WINDOW_LINE = 6'(oae_registers::PORT_WINDOW >> 6);
  localparam logic [5:0] PAGE_LINE = 6'(oae_registers::PORT_PUSHED_ANSWER >> 6);
  localparam logic [2:0] REGISTERS = 3'd0;  // BARs
  localparam logic [2:0] STREAMS = 3'd4;
  localparam logic [2:0] LAST_GLOBAL = 3'(oae_registers::FIRMWARE_EVENTS >> 3);
  localparam logic [10:0] FIRMWARE_WORDS = 11'(oae_registers::FIRMWARE_WORD_OPERAND >> 6);
  localparam logic [2:0] LAST_OF_WORDS = 3'(oae_registers::FIRMWARE_WORD_OUTCOME >> 3);
  localparam logic [2:0] LAST_FIRMWARE = 3'(oae_registers::FIRMWARE_PASSED >> 3);

  always_comb begin
    if (host_waits && request_reset) source = oae_types::HOST;
    else case (last)
      oae_types::HOST:
        source = firmware_waits ? oae_types::FIRMWARE
               : watch_waits ? oae_types::WATCH
               : bridge_waits ? oae_types::BRIDGE : oae_types::HOST;
      oae_types::FIRMWARE:
        source = watch_waits ? oae_types::WATCH
               : bridge_waits ? oae_types::BRIDGE
               : host_waits ? oae_types::HOST : oae_types::FIRMWARE;
      oae_types::WATCH:
        source = bridge_waits ? oae_types::BRIDGE
               : host_waits ? oae_types::HOST
               : firmware_waits ? oae_types::FIRMWARE : oae_types::WATCH;
      default:
        source = host_waits ? oae_types::HOST
               : firmware_waits ? oae_types::FIRMWARE
               : watch_waits ? oae_types::WATCH : oae_types::BRIDGE;
    endcase
  end

  // A port has two lines of 64 bytes in BAR 0, 64 lines in BAR 2 and in BAR 4 with the same layout, and four lines on the
  // firmware's side.
  logic [11:0] host_line;
  logic [13:0] firmware_word;
  assign host_line = request_line - HOST_PORTS;
  assign firmware_word = access_word - FIRMWARE_PORTS;

  always_comb begin
    target = oae_types::NOTHING;
    port = '0;
    if (source == oae_types::WATCH) begin
      target = oae_types::DEADLINE;
      port = watch_port;
    end else if (source == oae_types::BRIDGE) begin
      case (bridge_errand)
        oae_types::TAKE: target = oae_types::BRIDGE_TAKE;
        oae_types::PUT: target = oae_types::BRIDGE_PUT;
        default: target = oae_types::BRIDGE_RENEW;
      endcase
      port = bridge_port;
    end else if (source == oae_types::HOST && request_reset) begin
      target = oae_types::FUNCTION_RESET;
      port = reset_port;
    end else if (source == oae_types::HOST) begin
      if (request_bar != REGISTERS) begin
        port = request_line[11:6];
        if (request_line[5:0] == WINDOW_LINE) target = oae_types::WINDOW;
        if (request_line[5:0] == PAGE_LINE)
          target = request_bar == STREAMS ? oae_types::STREAM : oae_types::PAGE;
      end else if (request_line == '0) begin
        target = oae_types::HOST_GLOBAL;
      end else if (host_line[11:7] == '0) begin
        target = host_line[0] ? oae_types::HOST_FATE : oae_types::HOST_PORT;
        port = host_line[6:1];
      end
    end else if (access_word[13:3] == '0) begin
      if (access_word[2:0] <= LAST_GLOBAL) target = oae_types::FIRMWARE_GLOBAL;
    end else if (access_word[13:3] == FIRMWARE_WORDS) begin
      if (access_word[2:0] <= LAST_OF_WORDS) target = oae_types::FIRMWARE_WORDS;
    end else if (firmware_word[13:11] == '0) begin
      port = firmware_word[10:5];
      case (firmware_word[4:3])
        2'd0: target = oae_types::FIRMWARE_OFFER;
        2'd1: if (firmware_word[2:0] <= LAST_FIRMWARE) target = oae_types::FIRMWARE_PORT;
        2'd2: target = oae_types::FIRMWARE_TENTATIVE;
        default: target = oae_types::FIRMWARE_COMMITTED;
      endcase
    end
    if ({1'b0, port} >= ports) begin
      target = oae_types::NOTHING;
      port = '0;
    end
  end

  if (oae_registers::STREAM_WINDOW != oae_registers::PORT_WINDOW ||
      oae_registers::STREAM_CONFIRM != oae_registers::PORT_CONFIRM ||
      oae_registers::STREAM_STATUS != oae_registers::PORT_STATUS ||
      oae_registers::STREAM_REVERSE != oae_registers::PORT_REVERSE)
    $error("the pages of a port are not laid out alike");

endmodule
