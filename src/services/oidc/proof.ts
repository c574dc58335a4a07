import { AppError } from "../../domain/error.ts"
import type { IdentityProvider } from "../../domain/identity-provider.ts"
import type { Session } from "../../domain/session.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { userOfIdentity } from "../../store/catalog/oidc.ts"
import type { Audit } from "../audit/audit.ts"
import { sessionEntry } from "../audit/entries.ts"
import type { NoteFailure } from "../sign-in/failures.ts"
import { actorAs, type Guest, type SignedIn } from "../sign-in/session.ts"
import type { Person, Sessions } from "../sign-in/sessions.ts"
import { SKEW_SECONDS } from "./discovery.ts"
import type { OidcClaims } from "./exchange.ts"

/** A started identity confirmation: the session and the start time. */
export interface PendingProof {
  userId: number
  sessionId: number
  at: number
}

/**
 * Confirmation of a signed-in user's identity at an identity provider, for users without a password. The provider must authenticate the
 * user again and state when it did.
 */
export interface OidcProof {
  /** Starts a confirmation. Throws `forbidden` if the provider cannot open such a session. */
  begin(provider: IdentityProvider, person: Person): PendingProof
  /** Confirms the identity and returns the session with a new token, undefined if the claims do not confirm it. */
  finish(provider: IdentityProvider, claims: OidcClaims, wanted: PendingProof, guest: Guest): Promise<SignedIn | undefined>
}

interface OidcProofOptions {
  catalog: Catalog
  clock: { now(): number }
  sessions: Pick<Sessions, "findById" | "prove">
  audit: Audit
  noteFailure: NoteFailure
}

export function createOidcProof({ catalog, clock, sessions, audit, noteFailure }: OidcProofOptions): OidcProof {
  return {
    begin(provider, person) {
      if (!mayConfirm(provider, person.session))
        throw new AppError("forbidden", "This identity provider cannot confirm your identity for this session. Use another method.")
      return { userId: person.user.id, sessionId: person.session.id, at: clock.now() }
    },
    async finish(provider, { subject, authenticatedAt }, { userId, sessionId, at }, guest) {
      const person = guest.former?.id === sessionId ? await sessions.findById(sessionId) : undefined
      if (!person || !mayConfirm(provider, person.session)) return undefined
      const { user, session } = person
      const isAsked = authenticatedAt !== undefined && authenticatedAt >= at - SKEW_SECONDS * 1_000
      if (!isAsked || (await userOfIdentity(catalog, provider.id, subject)) !== userId) {
        await noteFailure(guest.actor, "accounts.session.prove", user.email)
        return undefined
      }
      return catalog.transaction(async (statements) => {
        const token = await sessions.prove(statements, session.id)
        await audit.write(statements, actorAs(guest.actor, user), sessionEntry("accounts.session.prove", session.id))
        return { user, session, token }
      })
    },
  }
}

/** Whether a provider could have opened this session. It never confirms an impersonation. */
const mayConfirm = ({ organizationId }: IdentityProvider, { organization_id, impersonator_id }: Session): boolean =>
  organizationId === organization_id && impersonator_id === null
