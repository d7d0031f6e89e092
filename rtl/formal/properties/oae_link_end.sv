
  // ---- What the environment guarantees ----

  // The power comes on once.
  logic powered_q = 1'b0;
  always_ff @(posedge clk_i) powered_q <= 1'b1;
  always_comb assume (rst_i == !powered_q);

  // A group from the wire brings at most one verdict, and none in a side that was down in the clock before, too.
  logic down_q;
  always_ff @(posedge clk_i) down_q <= rst_i || down;
  always_comb begin
    assume (32'(frame_good) + 32'(damaged) + 32'(return_valid) <= 32'd1);
    assume (!(rst_i || (down && down_q)) || !(frame_good || damaged || return_valid));
  end

  // The firmware writes one register in a clock.
  always_comb
    assume (32'(csr_offer) + 32'(csr_take) + 32'(withdraw) + 32'(resume) + 32'(csr_drop) + 32'(settle) + 32'(begins) + 32'(ends) <= 32'd1);

  // The bridge offers and takes only what it may.
  always_comb begin
    assume (!(bridged_o && send_offer_i) || (!rst_i && offered - settled_o < 32'(SLOTS - 1)));
    assume (!(bridged_o && receive_take_i) || receive_valid_o);
  end

  // The other side learns a session from a join frame, and answers after the frame has left here and the answer has come back.
  // That takes more than three clocks.
  logic [1:0] told_q;
  always_ff @(posedge clk_i)
    if (rst_i || down || cuts) told_q <= '0;
    else if (join_taken || told_q != '0) told_q <= told_q == '1 ? '1 : told_q + 2'd1;
  always_comb
    assume (!(frame_good && protocol == 2'(oae_registers::WIRE_PROTOCOL_JOIN) && peer.sessions.other == session) || told_q == '1);

  // It sends other frames only after something has shown it that this side has joined.
  logic [1:0] shown_q;
  always_ff @(posedge clk_i)
    if (rst_i || !live) shown_q <= '0;
    else if (join_taken || return_taken || restart_taken || alive_taken || slot_taken || shown_q != '0)
      shown_q <= shown_q == '1 ? '1 : shown_q + 2'd1;
  always_comb assume (!(frame_good && protocol != 2'(oae_registers::WIRE_PROTOCOL_JOIN)) || shown_q == '1);

  // ---- What leaves ----

  always_ff @(posedge clk_i)
    if (!rst_i) begin
      one_leaves: assert (32'(return_taken) + 32'(join_taken) + 32'(restart_taken) + 32'(alive_taken) + 32'(slot_taken) <= 32'd1);
      nothing_leaves_in_a_join: assert (!joins || !(return_taken || join_taken || restart_taken || slot_taken));
      a_slot_leaves_when_both_have_joined: assert (!slot_taken || open);
      a_return_leaves_in_a_session: assert (!return_taken || live);

      // A return that leaves in this clock confirms what is then confirmed.
      a_return_confirms_what_is_answered: assert (!return_taken || to_peer.request.confirmed == answered[15:0]);

      joined: cover (joins);
      both_joined: cover (open);
      slot_has_left: cover (slot_taken && sent_o != settled_o);
      restart_has_left: cover (restart_taken);
      confirmed_and_not_settled: cover (open && confirmed != settled_o);
      reversed: cover (reverses != '0);
      in_doubt_and_down: cover (down && in_doubt);
      committed_here: cover (done_o != '0 && receives != '0);
      jammed_here: cover (jammed);
      taken_here: cover (taken != '0);
    end
