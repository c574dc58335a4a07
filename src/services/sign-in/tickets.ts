import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import { deleteTickets, findTicket, insertTicket, type TicketKind, type TicketRow, tryTicket, useTicket } from "../store/catalog/tickets.ts"
import type { Random } from "./secrets.ts"
import { tokenHash } from "./sessions.ts"

/**
 * Tickets tie the second half of a sign-in to the first. They are random, kept as hashes, short-lived and used once; no route
 * takes one for a session. Every refusal is `ticket_invalid`.
 */
export interface Tickets {
  issue(statements: Statements, ticket: NewTicket): Promise<string>
  /** Counts a try, and throws for the sixth. What it returns can be used once it turns out right. */
  try(kind: TicketKind, ticket: string): Promise<TicketRow>
  /** Without counting a try. */
  look(kind: TicketKind, ticket: string): Promise<TicketRow>
  /** Of parallel calls exactly one gets it. */
  use(statements: Statements, kind: TicketKind, ticket: string): Promise<TicketRow>
  /** Removes what ended long ago. */
  forget(): Promise<void>
}

export interface NewTicket {
  kind: TicketKind
  /** Null: of somebody who is not known yet. */
  userId: number | null
  payload: unknown
  lifeMs: number
}

const TRIES = 5
const TOKEN_BYTES = 32
/** Ended ones are kept for a while: a clock that is set back must find them used. */
const KEPT_ENDED_MS = 86_400_000

export function createTickets({ catalog, clock, random }: { catalog: Catalog; clock: Pick<Clock, "now">; random: Random }): Tickets {
  /** What has expired is used up, so that a clock that is set back does not revive it. */
  async function refuseExpired(statements: Statements, kind: TicketKind, ticket: string, row: TicketRow): Promise<void> {
    if (row.expires_at > clock.now()) return
    await useTicket(statements, tokenHash(ticket), kind, clock.now())
    throw ticketInvalid()
  }
  return {
    async issue(statements, { kind, userId, payload, lifeMs }) {
      const ticket = random(TOKEN_BYTES).toBase64({ alphabet: "base64url", omitPadding: true })
      await insertTicket(statements, tokenHash(ticket), { kind, userId, payload, expiresAt: clock.now() + lifeMs })
      return ticket
    },
    async try(kind, ticket) {
      const row = await tryTicket(catalog, tokenHash(ticket), kind)
      if (!row || row.attempts > TRIES) throw ticketInvalid()
      await refuseExpired(catalog, kind, ticket, row)
      return row
    },
    async look(kind, ticket) {
      const row = await findTicket(catalog, tokenHash(ticket), kind)
      if (!row || row.attempts > TRIES) throw ticketInvalid()
      await refuseExpired(catalog, kind, ticket, row)
      return row
    },
    async use(statements, kind, ticket) {
      const row = await useTicket(statements, tokenHash(ticket), kind, clock.now())
      if (!row || row.expires_at <= clock.now()) throw ticketInvalid()
      return row
    },
    forget: () => deleteTickets(catalog, clock.now() - KEPT_ENDED_MS, 1_000),
  }
}

export const ticketInvalid = () => new AppError("ticket_invalid", "Begin again: the ticket is unknown, used or expired.")
