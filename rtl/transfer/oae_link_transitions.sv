// SPDX-License-Identifier: Apache-2.0
// The transitions of the OAE link's state machines, which link_transitions.yaml lists.
// Combinational. A pair of state and event that is not listed changes nothing.
module oae_link_transitions (
  input  oae_link_table::phase_state_t                phase,
  input  oae_link_table::phase_event_t                phase_event,
  output oae_link_table::phase_state_t                phase_next,
  output logic [oae_link_table::PHASE_ACTIONS-1:0]    phase_actions,

  input  oae_link_table::sender_state_t               sender,
  input  oae_link_table::sender_event_t               sender_event,
  output oae_link_table::sender_state_t               sender_next,
  output logic [oae_link_table::SENDER_ACTIONS-1:0]   sender_actions,

  input  oae_link_table::receiver_state_t             receiver,
  input  oae_link_table::receiver_event_t             receiver_event,
  output oae_link_table::receiver_state_t             receiver_next,
  output logic [oae_link_table::RECEIVER_ACTIONS-1:0] receiver_actions
);

  always_comb begin
    phase_next = phase;
    phase_actions = '0;
    case (phase)
      oae_link_table::PHASE_STATE_DOWN:
        if (phase_event == oae_link_table::PHASE_EVENT_BEGIN) begin
          phase_next = oae_link_table::PHASE_STATE_INITIALISING;
          phase_actions[oae_link_table::PHASE_OPEN] = 1'b1;
        end
      oae_link_table::PHASE_STATE_INITIALISING:
        case (phase_event)
          oae_link_table::PHASE_EVENT_AGREED: begin
            phase_next = oae_link_table::PHASE_STATE_JOINED;
            phase_actions[oae_link_table::PHASE_JOIN] = 1'b1;
          end
          oae_link_table::PHASE_EVENT_MET: begin
            phase_next = oae_link_table::PHASE_STATE_IDLE;
            phase_actions[oae_link_table::PHASE_JOIN] = 1'b1;
            phase_actions[oae_link_table::PHASE_RISE] = 1'b1;
          end
          oae_link_table::PHASE_EVENT_LOST: phase_next = oae_link_table::PHASE_STATE_DOWN;
          default: ;
        endcase
      oae_link_table::PHASE_STATE_JOINED:
        case (phase_event)
          oae_link_table::PHASE_EVENT_MET: begin
            phase_next = oae_link_table::PHASE_STATE_IDLE;
            phase_actions[oae_link_table::PHASE_RISE] = 1'b1;
          end
          oae_link_table::PHASE_EVENT_RESTARTED: begin
            phase_next = oae_link_table::PHASE_STATE_INITIALISING;
            phase_actions[oae_link_table::PHASE_OPEN] = 1'b1;
          end
          oae_link_table::PHASE_EVENT_LOST: phase_next = oae_link_table::PHASE_STATE_DOWN;
          default: ;
        endcase
      oae_link_table::PHASE_STATE_IDLE:
        case (phase_event)
          oae_link_table::PHASE_EVENT_RESTARTED: begin
            phase_next = oae_link_table::PHASE_STATE_INITIALISING;
            phase_actions[oae_link_table::PHASE_OPEN] = 1'b1;
            phase_actions[oae_link_table::PHASE_CUT] = 1'b1;
          end
          oae_link_table::PHASE_EVENT_LOST: begin
            phase_next = oae_link_table::PHASE_STATE_DOWN;
            phase_actions[oae_link_table::PHASE_CUT] = 1'b1;
          end
          default: ;
        endcase
      default: ;
    endcase
  end

  always_comb begin
    sender_next = sender;
    sender_actions = '0;
    case (sender)
      oae_link_table::SENDER_STATE_IDLE:
        case (sender_event)
          oae_link_table::SENDER_EVENT_PACKET: begin
            sender_next = oae_link_table::SENDER_STATE_TENTATIVE;
            sender_actions[oae_link_table::SENDER_LAUNCH] = 1'b1;
          end
          oae_link_table::SENDER_EVENT_FLOW: begin
            sender_next = oae_link_table::SENDER_STATE_COMMITTING;
            sender_actions[oae_link_table::SENDER_LAUNCH] = 1'b1;
          end
          default: ;
        endcase
      oae_link_table::SENDER_STATE_TENTATIVE:
        case (sender_event)
          oae_link_table::SENDER_EVENT_ANSWERED: begin
            sender_next = oae_link_table::SENDER_STATE_COMMITTING;
            sender_actions[oae_link_table::SENDER_CONFIRM] = 1'b1;
          end
          oae_link_table::SENDER_EVENT_REFUSED, oae_link_table::SENDER_EVENT_CUT: begin
            sender_next = oae_link_table::SENDER_STATE_IDLE;
            sender_actions[oae_link_table::SENDER_SETTLE_REVERSED] = 1'b1;
          end
          oae_link_table::SENDER_EVENT_WITHDRAWN, oae_link_table::SENDER_EVENT_DOUBT: begin
            sender_next = oae_link_table::SENDER_STATE_REVERSING;
            sender_actions[oae_link_table::SENDER_JAM] = 1'b1;
          end
          default: ;
        endcase
      oae_link_table::SENDER_STATE_REVERSING:
        case (sender_event)
          oae_link_table::SENDER_EVENT_REFUSED, oae_link_table::SENDER_EVENT_CUT: begin
            sender_next = oae_link_table::SENDER_STATE_IDLE;
            sender_actions[oae_link_table::SENDER_SETTLE_REVERSED] = 1'b1;
          end
          oae_link_table::SENDER_EVENT_DOUBT: sender_actions[oae_link_table::SENDER_JAM] = 1'b1;
          default: ;
        endcase
      oae_link_table::SENDER_STATE_COMMITTING:
        case (sender_event)
          oae_link_table::SENDER_EVENT_DONE: begin
            sender_next = oae_link_table::SENDER_STATE_IDLE;
            sender_actions[oae_link_table::SENDER_SETTLE_COMMITTED] = 1'b1;
          end
          oae_link_table::SENDER_EVENT_REFUSED: begin
            sender_next = oae_link_table::SENDER_STATE_IDLE;
            sender_actions[oae_link_table::SENDER_SETTLE_REVERSED] = 1'b1;
          end
          oae_link_table::SENDER_EVENT_DOUBT: begin
            sender_next = oae_link_table::SENDER_STATE_IN_DOUBT;
            sender_actions[oae_link_table::SENDER_JAM] = 1'b1;
          end
          oae_link_table::SENDER_EVENT_CUT: sender_next = oae_link_table::SENDER_STATE_IN_DOUBT;
          default: ;
        endcase
      oae_link_table::SENDER_STATE_IN_DOUBT:
        case (sender_event)
          oae_link_table::SENDER_EVENT_DONE, oae_link_table::SENDER_EVENT_FOUND_COMMITTED: begin
            sender_next = oae_link_table::SENDER_STATE_IDLE;
            sender_actions[oae_link_table::SENDER_SETTLE_COMMITTED] = 1'b1;
          end
          oae_link_table::SENDER_EVENT_REFUSED, oae_link_table::SENDER_EVENT_FOUND_REVERSED: begin
            sender_next = oae_link_table::SENDER_STATE_IDLE;
            sender_actions[oae_link_table::SENDER_SETTLE_REVERSED] = 1'b1;
          end
          oae_link_table::SENDER_EVENT_FOUND_LOST: begin
            sender_next = oae_link_table::SENDER_STATE_IDLE;
            sender_actions[oae_link_table::SENDER_SETTLE_LOST] = 1'b1;
          end
          oae_link_table::SENDER_EVENT_DOUBT: sender_actions[oae_link_table::SENDER_JAM] = 1'b1;
          default: ;
        endcase
      default: ;
    endcase
  end

  always_comb begin
    receiver_next = receiver;
    receiver_actions = '0;
    case (receiver)
      oae_link_table::RECEIVER_STATE_IDLE, oae_link_table::RECEIVER_STATE_REFLECTING:
        case (receiver_event)
          oae_link_table::RECEIVER_EVENT_BEGUN: receiver_next = oae_link_table::RECEIVER_STATE_REFLECTING;
          oae_link_table::RECEIVER_EVENT_WHOLE: begin
            receiver_next = oae_link_table::RECEIVER_STATE_TENTATIVE;
            receiver_actions[oae_link_table::RECEIVER_ANSWER] = 1'b1;
          end
          oae_link_table::RECEIVER_EVENT_WHOLE_FLOW: begin
            receiver_next = oae_link_table::RECEIVER_STATE_IDLE;
            receiver_actions[oae_link_table::RECEIVER_COMMIT] = 1'b1;
            receiver_actions[oae_link_table::RECEIVER_DONE] = 1'b1;
          end
          oae_link_table::RECEIVER_EVENT_FULL, oae_link_table::RECEIVER_EVENT_JAMMED: begin
            receiver_next = oae_link_table::RECEIVER_STATE_IDLE;
            receiver_actions[oae_link_table::RECEIVER_REVERSE] = 1'b1;
            receiver_actions[oae_link_table::RECEIVER_REFUSE] = 1'b1;
          end
          oae_link_table::RECEIVER_EVENT_ASKED: receiver_actions[oae_link_table::RECEIVER_REPORT] = 1'b1;
          oae_link_table::RECEIVER_EVENT_BROKEN, oae_link_table::RECEIVER_EVENT_CUT:
            if (receiver == oae_link_table::RECEIVER_STATE_REFLECTING) begin
              receiver_next = oae_link_table::RECEIVER_STATE_IDLE;
              receiver_actions[oae_link_table::RECEIVER_DISCARD] = 1'b1;
            end
          default: ;
        endcase
      oae_link_table::RECEIVER_STATE_TENTATIVE:
        case (receiver_event)
          oae_link_table::RECEIVER_EVENT_CONFIRMED: begin
            receiver_next = oae_link_table::RECEIVER_STATE_IDLE;
            receiver_actions[oae_link_table::RECEIVER_COMMIT] = 1'b1;
            receiver_actions[oae_link_table::RECEIVER_DONE] = 1'b1;
          end
          oae_link_table::RECEIVER_EVENT_JAMMED: begin
            receiver_next = oae_link_table::RECEIVER_STATE_IDLE;
            receiver_actions[oae_link_table::RECEIVER_REVERSE] = 1'b1;
            receiver_actions[oae_link_table::RECEIVER_REFUSE] = 1'b1;
          end
          oae_link_table::RECEIVER_EVENT_CUT: begin
            receiver_next = oae_link_table::RECEIVER_STATE_IDLE;
            receiver_actions[oae_link_table::RECEIVER_REVERSE] = 1'b1;
          end
          default: ;
        endcase
      default: ;
    endcase
  end

endmodule
