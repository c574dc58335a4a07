import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import {
  deleteTickets,
  deleteTokens,
  findTicket,
  findToken,
  insertTicket,
  insertToken,
  type OneTimeToken,
  type TicketKind,
  type TicketRow,
  type TokenPurpose,
  tryTicket,
  useTicket,
  useToken,
  voidTokens,
  voidTokensSince,
} from "../../store/catalog/one-time-tokens.ts"
import type { Random } from "../secrets/secrets.ts"
import { tokenHash } from "./sessions.ts"

/** Tokens of links in emails. They are random, stored as hashes and valid for one use. An invalid token is `token_invalid`. */
export interface OneTimeTokens {
  /** Issues a token. Invalidates older tokens of the same user and purpose, unless `keepsOlder` is set. */
  issue(statements: Statements, token: NewToken): Promise<string>
  peek(purpose: TokenPurpose, token: string): Promise<OneTimeToken>
  /** Uses up a token. Exactly one of several parallel calls succeeds. */
  use(statements: Statements, purpose: TokenPurpose, token: string): Promise<OneTimeToken>
  void(statements: Statements, userId: number, ...purposes: readonly TokenPurpose[]): Promise<void>
  /** Invalidates the tokens of the same user and purpose that were issued after this one. Assumes that all have the same lifetime. */
  voidLater(statements: Statements, purpose: TokenPurpose, token: OneTimeToken): Promise<void>
  /** Deletes tokens that ended more than a day ago. */
  forget(): Promise<void>
}

export interface NewToken {
  purpose: TokenPurpose
  userId: number
  payload: unknown
  lifeMs: number
  keepsOlder?: boolean
}

const TOKEN_BYTES = 32
/** Ended tokens are kept for a day, so that they stay used if the clock is set back. */
const ENDED_RETENTION_MS = 86_400_000

export function createOneTimeTokens({
  catalog,
  clock,
  random,
}: {
  catalog: Catalog
  clock: Pick<Clock, "now">
  random: Random
}): OneTimeTokens {
  return {
    async issue(statements, { purpose, userId, payload, lifeMs, keepsOlder }) {
      const token = random(TOKEN_BYTES).toBase64({ alphabet: "base64url", omitPadding: true })
      if (!keepsOlder) await voidTokens(statements, userId, purpose, clock.now())
      await insertToken(statements, tokenHash(token), { purpose, userId, payload, expiresAt: clock.now() + lifeMs })
      return token
    },
    async peek(purpose, token) {
      const found = await findToken(catalog, tokenHash(token), purpose)
      if (!found) throw tokenInvalid()
      if (found.expires_at > clock.now()) return found
      // Marked as used, so that setting the clock back does not make it valid again.
      await useToken(catalog, tokenHash(token), purpose, clock.now())
      throw tokenInvalid()
    },
    async use(statements, purpose, token) {
      const found = await useToken(statements, tokenHash(token), purpose, clock.now())
      if (!found || found.expires_at <= clock.now()) throw tokenInvalid()
      return found
    },
    async void(statements, userId, ...purposes) {
      for (const purpose of purposes) await voidTokens(statements, userId, purpose, clock.now())
    },
    voidLater: (statements, purpose, { user_id, expires_at }) =>
      voidTokensSince(statements, { userId: user_id, purpose, since: expires_at }, clock.now()),
    forget: () => deleteTokens(catalog, clock.now() - ENDED_RETENTION_MS, 1_000),
  }
}

export const tokenInvalid = () => new AppError("token_invalid", "This link is invalid, was already used or has expired. Request a new one.")

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
