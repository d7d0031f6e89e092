
  // What the other side guarantees: a restart keeps all that a return has confirmed, even one in the clock before.
  always_comb assume (!(restart && said_q) || $signed(head_i.number - said_confirmed_q) >= 0);

  // ---- The slots from the other side: held, then committed, then taken ----

  always_ff @(posedge clk_i)
    if (!rst_i) begin
      done_never_runs_back: assert (join_i || done_d - done_q < expected_q - done_q);
      only_a_return_commits: assert (join_i || done_d == done_q || said_q);
      each_commitment_is_received: assert (join_i || done_d - done_q == received_d - received_q);
      nothing_is_received_in_a_join: assert (!join_i || received_d == received_q);
      only_what_is_received_is_taken: assert (taken_d - taken_q <= received_q - taken_q);
      only_the_next_slot_is_held: assert (join_i || discards_q || restart || expected_d == expected_q ||
          (frame_good_i && head_i.number == expected_q && head_i.generation == generation_q && expected_d == expected_q + 32'd1));
      no_slot_is_held_while_jammed: assert (!jammed || join_i || discards_q || restart || expected_d == expected_q);
      a_slot_is_held_where_there_is_room: assert (place_d - received_d <= place_q - received_d || place_q - taken_q < 32'(SLOTS) || discards_q);
      a_restart_keeps_what_is_committed: assert (!restart || join_i || discards_q || expected_d - done_d <= expected_q - done_d);
      a_new_generation_needs_a_restart: assert (join_i || restart || generation_d == generation_q);
      a_journal_that_covers_a_doubt_stays: assert (!join_i || !keeps || (done_d == done_q && first_d == first_q));
      a_credit_is_room: assert (return_o.credit - return_o.done <= 16'(SLOTS));
    end
