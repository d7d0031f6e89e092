// SPDX-License-Identifier: Apache-2.0
// The slot memory with nine banks for each port (the host's are 0 to 2, the firmware's 4 and 5, those of a joined port 3
// and 6 to 8), the present slot, which is read from it or formed by the block, and the slot for the answer buffer.
module oae_slots #(
  parameter int unsigned PORTS = 64
) (
  input  logic         clock,
  input  logic [$clog2(9*PORTS)-1:0] row,  // of the bank to read or write: port and bank, or 8 * PORTS + port for bank 8
  input  logic         write,
  input  logic [511:0] write_data,
  input  logic [63:0]  write_enable,
  input  logic         read,
  input  logic         form,        // forms an answer of the block
  input  logic [63:0]  form_header,
  input  logic [319:0] form_payload,  // slices 1 to 5
  input  logic         stamp,       // gives the slot another header,
  input  logic [63:0]  stamp_header,
  input  logic         stamp_empty, //   and makes its payload zero
  input  logic         seal,        // adds slice 7
  input  logic [63:0]  seal_crc,
  output logic [511:0] slot,
  input  logic         pushes,      // the present slot goes to the answer buffer,
  output logic [511:0] pushed       //   and stays here until it has left
);

  logic [511:0] memory [9*PORTS];
  logic [511:0] stamped;

  always_ff @(posedge clock)
    if (write) memory[row] <= oae_types::merge(memory[row], write_data, write_enable);

  assign stamped = {64'd0, stamp_empty ? '0 : slot[447:64], stamp_header};

  always_ff @(posedge clock) begin
    if (read) slot <= memory[row];
    else if (form) slot <= {128'd0, form_payload, form_header};
    else if (stamp) slot <= stamped;
    else if (seal) slot[511:448] <= seal_crc;
  end

  always_ff @(posedge clock)
    if (pushes) begin
      if (read) pushed <= memory[row];
      else if (form) pushed <= {128'd0, form_payload, form_header};
      else if (stamp) pushed <= stamped;
      else if (seal) pushed[511:448] <= seal_crc;
    end

endmodule
