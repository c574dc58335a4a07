import type { Actor } from "../domain/audit.ts"
import type { Clock } from "../domain/clock.ts"
import type { Session, SignInMethod } from "../domain/session.ts"
import type { User } from "../domain/user.ts"
import { countryNameOrCode } from "../query/country-names.ts"
import type { Statements } from "../store/catalog/catalog.ts"
import { updateLastLogin } from "../store/catalog/users.ts"
import type { Audit } from "./audit.ts"
import type { Sessions } from "./sessions.ts"
import type { Origin } from "./sign-in-limits.ts"

/** Somebody who is about to come in. */
export interface Guest {
  /** Nobody yet, from where it asks. */
  actor: Actor
  origin: Origin
  /** Where it asks from, found from the address, which is kept nowhere. Country by its code; "" is missing. */
  place?: { country: string; city: string }
  /** What the browser was signed in with: it ends when it signs in anew. */
  former: Session | undefined
}

/** Somebody who has come in; the token is told this once. */
export interface SignedIn {
  user: User
  session: Session
  token: string
}

export interface Entry {
  method: SignInMethod
  mfa: boolean
  /** The only organization the session may reach. */
  organizationId?: number
  /** The identity provider that opens it. */
  provider?: string
}

/** The end of every way in: the session, when the user was last here, the row of the audit log, all in the caller's transaction. */
export type OpenSession = (statements: Statements, user: User, entry: Entry, guest: Guest) => Promise<SignedIn>

export function sessionOpening(options: { clock: Pick<Clock, "now">; sessions: Sessions; audit: Audit }): OpenSession {
  const { clock, sessions, audit } = options
  return async (statements, user, { method, mfa, organizationId, provider }, { actor, former, place }) => {
    if (former) await sessions.revoke(statements, former.id)
    const { userAgent, ipPrefix } = actor
    const client = { userAgent, ipPrefix, place: place ? placeName(place) : "" }
    const limits = { ...(organizationId !== undefined && { organizationId }), ...(provider !== undefined && { provider }) }
    const { token, session } = await sessions.create(statements, user, { method, mfa, client, ...limits })
    await updateLastLogin(statements, user.id, clock.now())
    await audit.write(statements, actorAs(actor, user), {
      action: "accounts.session.create",
      target: { type: "session", id: session.id, label: method },
    })
    return { user, session, token }
  }
}

/** As people read it: `Berlin, Germany`. */
const placeName = ({ country, city }: { country: string; city: string }): string =>
  [city, country === "" ? "" : countryNameOrCode(country)].filter(Boolean).join(", ")

/** Whoever has just proved to be this user. */
export const actorAs = (actor: Actor, user: Pick<User, "id" | "email">): Actor => ({ ...actor, id: user.id, email: user.email })
