
  // ---- Sessions and phases ----

  always_ff @(posedge clk_i)
    if (!rst_i) begin
      only_a_frame_of_this_session_joins: assert (!joins_o || (join_frame && to_this && phase_q == INITIALISING));
      up_needs_joined: assert (phase_d != UP || phase_q == JOINED || phase_q == UP || (joins_o && peer_i.agreed));
      joined_needs_initialising: assert (phase_d != JOINED || phase_q == JOINED || joins_o);
      a_phase_that_ends_is_cut: assert (!live || phase_d == JOINED || phase_d == UP || cuts_o);
      a_beginning_has_a_session: assert (phase_d != INITIALISING || phase_q == INITIALISING || opens);
      a_restarted_side_is_not_believed: assert (!(live && join_frame && !(to_this && of_that)) || cuts_o);
    end
