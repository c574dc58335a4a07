import { AppError } from "../domain/error.ts"
import type { IdentityProvider } from "../domain/identity-provider.ts"
import type { Session } from "../domain/session.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import { userOfIdentity } from "../store/catalog/oidc.ts"
import type { Audit } from "./audit.ts"
import { SKEW_SECONDS } from "./oidc-discovery.ts"
import type { OidcClaims } from "./oidc-exchange.ts"
import { sessionDeed } from "./own-account.ts"
import type { Person, Sessions } from "./sessions.ts"
import type { NoteFailure } from "./sign-in-failures.ts"
import { actorAs, type Guest, type SignedIn } from "./sign-in-session.ts"

/** A proof that was begun: of which session, and when. */
export interface WantedProof {
  userId: number
  sessionId: number
  at: number
}

/**
 * Proving again who one is at an identity provider, in place of a password that one may not have or may not use. The provider
 * is told to ask anew, and must say when it did.
 */
export interface OidcProof {
  /** Throws `forbidden`. */
  begin(provider: IdentityProvider, person: Person): WantedProof
  /** The session goes on under a new token; undefined for whatever proves nothing. */
  finish(provider: IdentityProvider, claims: OidcClaims, wanted: WantedProof, guest: Guest): Promise<SignedIn | undefined>
}

interface OidcProofOptions {
  catalog: Catalog
  clock: { now(): number }
  sessions: Pick<Sessions, "look" | "prove">
  audit: Audit
  noteFailure: NoteFailure
}

export function createOidcProof({ catalog, clock, sessions, audit, noteFailure }: OidcProofOptions): OidcProof {
  return {
    begin(provider, person) {
      if (!speaksFor(provider, person.session)) throw new AppError("forbidden", "This provider cannot vouch for your session.")
      return { userId: person.user.id, sessionId: person.session.id, at: clock.now() }
    },
    async finish(provider, { subject, authenticatedAt }, { userId, sessionId, at }, guest) {
      const person = guest.former?.id === sessionId ? await sessions.look(sessionId) : undefined
      if (!person || !speaksFor(provider, person.session)) return undefined
      const { user, session } = person
      const isAsked = authenticatedAt !== undefined && authenticatedAt >= at - SKEW_SECONDS * 1_000
      if (!isAsked || (await userOfIdentity(catalog, provider.id, subject)) !== userId) {
        await noteFailure(guest.actor, "accounts.session.prove", user.email)
        return undefined
      }
      return catalog.transaction(async (statements) => {
        const token = await sessions.prove(statements, session.id)
        await audit.write(statements, actorAs(guest.actor, user), sessionDeed("accounts.session.prove", session.id))
        return { user, session, token }
      })
    },
  }
}

/** A provider vouches for sessions as far as it may open them; and never for who acts as somebody else. */
const speaksFor = ({ organizationId }: IdentityProvider, { organization_id, impersonator_id }: Session): boolean =>
  organizationId === organization_id && impersonator_id === null
