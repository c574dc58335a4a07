import { createHash } from "node:crypto"
import type { Client, Session, SignInMethod } from "../../domain/account.ts"
import type { Actor } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import type { User } from "../../domain/user.ts"
import { agentOf, cutAgent } from "../../ingest/request/agent.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { sessionDaysOf } from "../../store/catalog/members.ts"
import {
  deleteEndedSessions,
  insertSession,
  listLiveSessions,
  renewSessionToken,
  requestSessionRenewal,
  revokeSession,
  revokeSessionsOf,
  sessionById,
  sessionByTokenHash,
  updateSessionProof,
  updateSessionSeen,
  updateSessionToken,
} from "../../store/catalog/sessions.ts"
import { userById } from "../../store/catalog/users.ts"
import type { Random } from "../secrets/secrets.ts"
import type { Origin } from "./limits.ts"

/** A signed-in user with the session. A type alias, because routes cannot be given an interface. */
export type Person = {
  user: User
  session: Session
  /** New token of the session, which must be sent to the browser. */
  renewedToken?: string
}

/** A signed-in person who changes their own account. */
export type Self = Person & { actor: Actor; origin: Origin }

export interface NewSession {
  method: SignInMethod
  mfa: boolean
  client: Client
  impersonation?: { by: number; mode: "read_only" | "full"; reason: string; minutes: number }
  /** The only organization that the session has access to. */
  organizationId?: number
  /** Id of the identity provider that was used to sign in. */
  provider?: string
}

/** Sessions of the dashboard. The cookie holds a random token of which only a hash is stored. Ending a session takes effect immediately. */
export interface Sessions {
  /** Creates a session. The token is available only once. */
  create(statements: Statements, user: Pick<User, "id">, session: NewSession): Promise<{ token: string; session: Session }>
  /** Finds a session by its token and extends its idle time. Returns undefined for an unknown or ended session and for a user who is not active. */
  find(token: string): Promise<Person | undefined>
  /** Finds a session by its id without extending it, for long-running requests whose token may have changed. */
  findById(id: number): Promise<Person | undefined>
  /** Returns the active sessions of a user, the most recently used first. */
  list(userId: number, statements?: Statements): Promise<Session[]>
  /** Ends a session. Returns false if there is no such active session. */
  revoke(statements: Statements, id: number): Promise<boolean>
  /** Ends all sessions of a user except one, if given. */
  revokeAll(statements: Statements, userId: number, except?: number): Promise<void>
  /** Gives each session of a user a new token with its next response. Call it when the user's permissions change. */
  renewAll(statements: Statements, userId: number): Promise<void>
  /** Records that the user has confirmed their identity, and returns a new token of the session. */
  prove(statements: Statements, id: number): Promise<string>
  /** Deletes sessions that ended more than 30 days ago. */
  forgetEnded(): Promise<void>
}

interface SessionsOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  random: Random
  /** Returns the instance's limits for sessions, in days. */
  life(): { idle: number; absolute: number }
}

const DAY_MS = 86_400_000
/** Minimum time between two updates of a session's last use. */
const SEEN_EVERY_MS = 5 * 60_000
/** Ended sessions remain visible to instance admins for 30 days. */
const ENDED_RETENTION_MS = 30 * DAY_MS
const TOKEN_BYTES = 32
/** The old token stays valid for 10 seconds, for requests that were already on their way. */
const RENEWAL_GRACE_MS = 10_000

export function createSessions({ catalog, clock, random, life }: SessionsOptions): Sessions {
  const newToken = () => random(TOKEN_BYTES).toBase64({ alphabet: "base64url", omitPadding: true })

  /** Returns the limits for a user's sessions: the instance's, or stricter ones of their organizations. */
  async function lifeOf(statements: Statements, userId: number): Promise<{ idle: number; absolute: number }> {
    const wanted = await sessionDaysOf(statements, userId)
    const { idle, absolute } = life()
    return { idle: Math.min(idle, wanted.idle ?? idle), absolute: Math.min(absolute, wanted.absolute ?? absolute) }
  }

  async function see(session: Session, now: number): Promise<Session> {
    if (now - session.last_seen_at < SEEN_EVERY_MS) return session
    const { idle } = await lifeOf(catalog, session.user_id)
    const idle_expires_at = Math.min(session.expires_at, now + idle * DAY_MS)
    // A full disk must not sign users out.
    await updateSessionSeen(catalog, session.id, { at: now, idleExpiresAt: idle_expires_at }).catch(() => {})
    return { ...session, last_seen_at: now, idle_expires_at }
  }

  /** Whether an impersonation is still allowed: only instance admins impersonate, and never one another. */
  async function mayStandIn({ impersonator_id }: Session, user: User): Promise<boolean> {
    if (impersonator_id === null) return true
    const by = await userById(catalog, impersonator_id)
    return by?.status === "active" && by.is_instance_admin && !user.is_instance_admin
  }

  async function renew(id: number, now: number): Promise<string | undefined> {
    const token = newToken()
    const isRenewed = await renewSessionToken(catalog, id, { tokenHash: tokenHash(token), previousUntil: now + RENEWAL_GRACE_MS })
    return isRenewed ? token : undefined
  }

  return {
    async create(statements, user, { method, mfa, client, impersonation, organizationId, provider }) {
      const now = clock.now()
      const { idle, absolute } = await lifeOf(statements, user.id)
      const expires_at = now + (impersonation ? impersonation.minutes * 60_000 : absolute * DAY_MS)
      const token = newToken()
      const session = await insertSession(statements, tokenHash(token), {
        user_id: user.id,
        method,
        mfa,
        created_at: now,
        idle_expires_at: Math.min(expires_at, now + idle * DAY_MS),
        expires_at,
        reauth_at: now,
        device: deviceOf(client.userAgent),
        user_agent: client.userAgent.slice(0, 512),
        ip_prefix: client.ipPrefix,
        place: client.place ?? "",
        impersonator_id: impersonation?.by ?? null,
        impersonation_mode: impersonation?.mode ?? null,
        impersonation_reason: impersonation?.reason ?? null,
        organization_id: organizationId ?? null,
        provider: provider ?? null,
      })
      return { token, session }
    },
    async find(token) {
      const now = clock.now()
      const session = await sessionByTokenHash(catalog, tokenHash(token), now)
      if (!session || session.revoked_at !== null) return undefined
      if (!isLive(session, now)) {
        // Stored, so that setting the clock back does not make it valid again.
        await revokeSession(catalog, session.id, now).catch(() => {})
        return undefined
      }
      const user = await userById(catalog, session.user_id)
      if (user?.status !== "active" || !(await mayStandIn(session, user))) return undefined
      const renewedToken = session.renewal_wanted ? await renew(session.id, now) : undefined
      return { user, session: await see(session, now), ...(renewedToken !== undefined && { renewedToken }) }
    },
    async findById(id) {
      const session = await sessionById(catalog, id)
      if (!session || session.revoked_at !== null || !isLive(session, clock.now())) return undefined
      const user = await userById(catalog, session.user_id)
      return user?.status === "active" && (await mayStandIn(session, user)) ? { user, session } : undefined
    },
    list: (userId, statements = catalog) => listLiveSessions(statements, userId, clock.now()),
    revoke: (statements, id) => revokeSession(statements, id, clock.now()),
    revokeAll: (statements, userId, except) => revokeSessionsOf(statements, userId, clock.now(), except),
    renewAll: requestSessionRenewal,
    async prove(statements, id) {
      const token = newToken()
      await updateSessionToken(statements, id, tokenHash(token))
      await updateSessionProof(statements, id, clock.now())
      return token
    },
    forgetEnded: () => deleteEndedSessions(catalog, clock.now() - ENDED_RETENTION_MS, 1_000),
  }
}

/** Returns the display name of a device: `Firefox on Linux`. */
function deviceOf(userAgent: string): string {
  const { browser, os } = agentOf(cutAgent(userAgent))
  return [browser || "Unknown browser", os && `on ${os}`].filter(Boolean).join(" ")
}

const isLive = ({ expires_at, idle_expires_at, created_at }: Session, now: number): boolean =>
  // After the clock was set back, a session from the future is not valid.
  now < expires_at && now < idle_expires_at && now >= created_at - DAY_MS

/** Returns the stored hash of a token. A fast hash is enough, because tokens are long and random. */
export const tokenHash = (token: string): Uint8Array => new Uint8Array(createHash("sha256").update(token).digest())
