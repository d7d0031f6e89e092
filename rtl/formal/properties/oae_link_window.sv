
  // ---- The numbers of the slots that this side sends ----

  always_ff @(posedge clk_i)
    if (!rst_i) begin
      only_confirmed_slots_are_settled: assert (settled_d - settled_q <= confirmed_q - settled_q);
      confirmed_never_runs_back: assert (settled_by_peer || confirmed_d - confirmed_q <= answered_q - confirmed_q);
      only_answered_slots_are_confirmed: assert (confirmed_d == confirmed_q || settled_by_peer || return_taken_i);
      only_sent_slots_are_answered: assert (settled_by_peer || answered_d - confirmed_d <= sent_q - confirmed_d);
      only_what_is_not_confirmed_is_reversed: assert (settled_by_peer || sent_d - confirmed_d <= sent_q + 32'd1 - confirmed_d);
      another_settlement_needs_a_link_that_is_not_up: assert (!settled_by_peer || join_i || down_i);

      a_slot_that_leaves_is_offered: assert (!slot_taken_i || sent_q != offered_q);
      a_slot_that_leaves_has_credit: assert (!slot_taken_i || $signed(credit_q - sent_q) > 0);
      a_slot_that_leaves_has_a_place: assert (!slot_taken_i || sent_q - settled_q < 32'(SLOTS - 1));
      a_held_slot_stays: assert (!slot_taken_i || !held_q);
    end

  // ---- A reversal ----

  // What it keeps, and the digest of that
  logic [31:0] kept_q;
  logic [15:0] kept_digest_q;
  always_ff @(posedge clk_i)
    if (reverse) begin
      kept_q <= answered_d;
      kept_digest_q <= digest_answered_d;
    end

  always_ff @(posedge clk_i)
    if (!rst_i) begin
      a_restart_names_what_was_kept: assert (!restart_taken_i || shown_q || restart_o.number == kept_q);
      a_restart_has_its_digest: assert (!restart_taken_i || shown_q || restart_o.digest == kept_digest_q);
      a_restart_names_its_generation: assert (!restart_taken_i || restart_o.generation == generation_q);
      a_reversal_begins_a_generation: assert (!reverse || cut_i || join_i || generation_d == generation_q + 8'd1);
    end

  // ---- An answer ----

  // `digest_q` is the digest of the slots up to the number that the answer names, as they left.
  logic answers_more;
  assign answers_more = answered_d != answered_q && !cut_i && !settled_by_peer;
  always_ff @(posedge clk_i)
    if (!rst_i) begin
      an_answer_has_the_digest_of_what_was_sent: assert (!answers_more || digest_q == said_digest_q);
      an_answer_is_of_the_present_generation: assert (!answers_more || said_generation_q == generation_q);
    end
