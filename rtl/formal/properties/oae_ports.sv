
  // ---- What the environment guarantees ----

  // The power comes on once, and the strap says that the one port is in use.
  logic powered_q = 1'b0;
  always_ff @(posedge clock) powered_q <= 1'b1;
  always_comb begin
    assume (reset == !powered_q);
    assume (ports == 7'd1);
  end

  // The watch knows no other port (oae_deadline.sv).
  always_comb assume (watch_port == '0);

  // A read of the register that joins the port finds whether it is joined (oae_readout.sv).
  always_comb
    assume (stage != oae_types::EXECUTE || write || target != oae_types::FIRMWARE_PORT ||
            word != 3'(oae_registers::FIRMWARE_JOIN >> 3) || value[oae_registers::FIRMWARE_JOIN_JOINED_SHIFT] == row.joined);

  // ---- The banks of slots ----

  logic changes_a_slot;
  assign changes_a_slot = slot_write && stage != oae_types::CLEAR;
  always_ff @(posedge clock)
    if (!reset) begin
      a_retained_answer_changes_by_an_exchange: assert (!changes_a_slot || keeps || slot_bank != {3'b010, row.answer_bank});
      a_standing_offer_is_not_overwritten: assert (!changes_a_slot || !row.offered || slot_bank != {3'b010, !row.answer_bank});
      a_tentative_slot_does_not_change: assert (!changes_a_slot || !row.tentative || slot_bank != {2'b00, row.tentative_bank});
      a_committed_slot_does_not_change: assert (!changes_a_slot || !row.committed || slot_bank != {2'b00, row.committed_bank});
      a_reply_that_waits_does_not_change: assert (!changes_a_slot || !row.replies || slot_bank != oae_types::REPLY_BANK);
      a_result_does_not_change: assert (!changes_a_slot || !row.result || slot_bank != oae_types::RESULT_BANK);
      a_read_changes_no_slot: assert (!changes_a_slot || write || exchanges);
    end
