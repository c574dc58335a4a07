import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import {
  deleteTickets,
  findTicket,
  insertTicket,
  type TicketKind,
  type TicketRow,
  tryTicket,
  useTicket,
} from "../../store/catalog/one-time-tokens.ts"
import type { Random } from "../secrets/secrets.ts"
import { tokenHash } from "./sessions.ts"

/**
 * Tickets connect the steps of a sign-in. They are random, short-lived, stored as hashes and valid for one use. No route accepts one in
 * place of a session. An invalid ticket is `ticket_invalid`.
 */
export interface Tickets {
  issue(statements: Statements, ticket: NewTicket): Promise<string>
  /** Counts an attempt and returns the ticket. Throws from the sixth attempt on. Call `use` when the attempt was correct. */
  try(kind: TicketKind, ticket: string): Promise<TicketRow>
  /** Returns the ticket without counting an attempt. */
  peek(kind: TicketKind, ticket: string): Promise<TicketRow>
  /** Uses up a ticket. Exactly one of several parallel calls succeeds. */
  use(statements: Statements, kind: TicketKind, ticket: string): Promise<TicketRow>
  /** Deletes tickets that ended more than a day ago. */
  forget(): Promise<void>
}

export interface NewTicket {
  kind: TicketKind
  /** Null if the user is not known yet. */
  userId: number | null
  payload: unknown
  lifeMs: number
}

const MAX_TRIES = 5
const TOKEN_BYTES = 32
/** Ended tickets are kept for a day, so that they stay used if the clock is set back. */
const ENDED_RETENTION_MS = 86_400_000

export function createTickets({ catalog, clock, random }: { catalog: Catalog; clock: Pick<Clock, "now">; random: Random }): Tickets {
  /** Throws for an expired ticket and marks it as used, so that setting the clock back does not make it valid again. */
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
      if (!row || row.attempts > MAX_TRIES) throw ticketInvalid()
      await refuseExpired(catalog, kind, ticket, row)
      return row
    },
    async peek(kind, ticket) {
      const row = await findTicket(catalog, tokenHash(ticket), kind)
      if (!row || row.attempts > MAX_TRIES) throw ticketInvalid()
      await refuseExpired(catalog, kind, ticket, row)
      return row
    },
    async use(statements, kind, ticket) {
      const row = await useTicket(statements, tokenHash(ticket), kind, clock.now())
      if (!row || row.expires_at <= clock.now()) throw ticketInvalid()
      return row
    },
    forget: () => deleteTickets(catalog, clock.now() - ENDED_RETENTION_MS, 1_000),
  }
}

export const ticketInvalid = () =>
  new AppError("ticket_invalid", "This step is invalid, was already completed or has expired. Start again.")
