import type { UserResponse } from "../../domain/account-response.ts"
import type { Actor } from "../../domain/audit.ts"
import type { Session } from "../../domain/session.ts"
import type { User } from "../../domain/user.ts"
import type { Origin } from "../../services/sign-in/limits.ts"
import type { Guest, SignedIn } from "../../services/sign-in/session.ts"
import type { Person } from "../../services/sign-in/sessions.ts"
import type { Call } from "../../web/guard.ts"
import { callerName, networkName } from "../caller.ts"
import type { SessionCookie } from "./session-cookie.ts"

export interface GuestOptions {
  now(): number
  cookie: SessionCookie
  addressOf(call: Call): string | undefined
  /** Country by its code, and city; "" is missing. */
  placeOf(call: Pick<Call, "request" | "server">): { country: string; city: string }
}

type ReportOptions = Pick<Call, "request" | "server"> & { actor: Actor; person?: Person }

/** What the services want to know of somebody who comes in. */
export function guests({ now, cookie, addressOf, placeOf }: GuestOptions) {
  const secondsLeft = (session: Session): number => Math.floor((session.expires_at - now()) / 1_000)
  // Only the request and the server are looked at.
  const originOf = (asking: ReportOptions): Origin => {
    const address = addressOf(asking as unknown as Call)
    return { address: callerName(address), network: networkName(address) }
  }
  return {
    originOf,
    /** Throws `insecure_connection` where a session could be read on its way. */
    guestOf(asking: ReportOptions): Guest {
      cookie.refuseInsecure(asking.request)
      return { actor: asking.actor, origin: originOf(asking), place: placeOf(asking), former: asking.person?.session }
    },
    /** Gives the browser its session. */
    welcome(context: unknown, { session, token }: Pick<SignedIn, "session" | "token">): void {
      cookie.set(context, token, secondsLeft(session))
    },
    /** The same as a line of an answer that has others. */
    sessionLine: ({ session, token }: SignedIn): string => cookie.header(token, secondsLeft(session)),
  }
}

export const toUserResponse = ({ id, email, email_verified_at, name, is_instance_admin }: User): UserResponse => ({
  id,
  email,
  email_verified: email_verified_at !== null,
  name,
  is_instance_admin,
})
