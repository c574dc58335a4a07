import type { Session, UserResponse } from "../../domain/account.ts"
import type { Actor } from "../../domain/audit.ts"
import type { User } from "../../domain/user.ts"
import type { Origin } from "../../services/sign-in/limits.ts"
import type { Guest, SignedIn } from "../../services/sign-in/session.ts"
import type { Person } from "../../services/sign-in/sessions.ts"
import type { Call } from "../../web/guard.ts"
import { type Clients, callerName, networkName } from "../caller.ts"
import type { SessionCookie } from "./session-cookie.ts"

export interface GuestOptions extends Clients {
  now(): number
  cookie: SessionCookie
}

/** Call of an open route. */
type OpenCall = Pick<Call, "request" | "server"> & { actor: Actor; person?: Person }

/** Returns the facts about a client that sign-in services need, and functions that start a session in the browser. */
export function guests({ now, cookie, addressOf, placeOf }: GuestOptions) {
  const secondsLeft = (session: Session): number => Math.floor((session.expires_at - now()) / 1_000)
  const originOf = (call: OpenCall): Origin => {
    const address = addressOf(call)
    return { address: callerName(address), network: networkName(address) }
  }
  return {
    originOf,
    /** Throws `insecure_connection` if others could read the session cookie in transit. */
    guestOf(call: OpenCall): Guest {
      cookie.refuseInsecure(call.request)
      return { actor: call.actor, origin: originOf(call), place: placeOf(call), former: call.person?.session }
    },
    /** Sets the session cookie of the response. */
    startSession(context: unknown, { session, token }: Pick<SignedIn, "session" | "token">): void {
      cookie.set(context, token, secondsLeft(session))
    },
    /** Returns the value of `Set-Cookie` for a response that sets other cookies, too. */
    sessionHeader: ({ session, token }: SignedIn): string => cookie.header(token, secondsLeft(session)),
  }
}

export const toUserResponse = ({ id, email, email_verified_at, name, is_instance_admin }: User): UserResponse => ({
  id,
  email,
  email_verified: email_verified_at !== null,
  name,
  is_instance_admin,
})
