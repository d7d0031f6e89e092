
  // ---- The journal: no state follows another but as swap_transitions.yaml says ----

  logic [7:0]  state_q;
  logic [31:0] sequence_q;
  logic [7:0]  epoch_q;
  logic        tentative_q;
  logic        loaded_q;      // the row in work is the same as in the clock before
  logic        opened_q;
  always_ff @(posedge clock) begin
    state_q <= row.state;
    sequence_q <= row.sequence_last;
    epoch_q <= row.epoch;
    tentative_q <= row.tentative;
    loaded_q <= !reset && stage != oae_types::LOAD && stage != oae_types::CLEAR;
    opened_q <= stage == oae_types::BEGIN_EPOCH;
  end

  logic closed_before;
  logic quiet_before;         // no slot was tentative
  logic legal;
  assign closed_before = state_q == oae_registers::PORT_STATE_CLOSED || state_q == oae_registers::PORT_STATE_HISTORY_LOST;
  assign quiet_before = state_q == oae_registers::PORT_STATE_IDLE || state_q == oae_registers::PORT_STATE_COMMITTED ||
                        state_q == oae_registers::PORT_STATE_REVERSED;
  always_comb begin
    legal = row.state == state_q;
    if (row.state == oae_registers::PORT_STATE_IDLE) legal = legal || closed_before;
    if (row.state == oae_registers::PORT_STATE_TENTATIVE) legal = legal || quiet_before;
    if (row.state == oae_registers::PORT_STATE_CLOSED) legal = legal || quiet_before;
    if (row.state == oae_registers::PORT_STATE_COMMITTED) legal = legal || state_q == oae_registers::PORT_STATE_TENTATIVE;
    if (row.state == oae_registers::PORT_STATE_REVERSED)
      legal = legal || quiet_before || state_q == oae_registers::PORT_STATE_TENTATIVE;
  end

  always_ff @(posedge clock)
    if (!reset) begin
      the_journal_moves_as_its_table_says: assert (!loaded_q || legal);
      a_swap_counts_once: assert (!loaded_q || opened_q || row.sequence_last == sequence_q ||
          row.sequence_last == oae_types::following(sequence_q));
      an_epoch_begins_when_the_port_opens: assert (!loaded_q || opened_q || row.epoch == epoch_q);
      a_swap_is_committed_once: assert (!commits || row.state == oae_registers::PORT_STATE_TENTATIVE);
      only_a_tentative_swap_is_reversed: assert (!reverses || row.state == oae_registers::PORT_STATE_TENTATIVE);
      a_tentative_slot_is_not_replaced: assert (!exchanges || !row.tentative);
      a_reversed_swap_leaves_nothing: assert (!finishes || row.state != oae_registers::PORT_STATE_REVERSED ||
          ((!row.tentative || row.settled) && !row.holds));

      opened: cover (row.open && finishes);
      tentative: cover (row.state == oae_registers::PORT_STATE_TENTATIVE && finishes);
      committed: cover (row.state == oae_registers::PORT_STATE_COMMITTED && row.committed && finishes);
      reversed: cover (row.state == oae_registers::PORT_STATE_REVERSED && row.event_reversed && finishes);
      words_held: cover (row.holds && finishes);
      replied: cover (row.replies && finishes);
      closed_again: cover (row.state == oae_registers::PORT_STATE_CLOSED && finishes);
    end
