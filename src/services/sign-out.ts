import type { Actor } from "../domain/audit.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import type { Audit } from "./audit.ts"
import { sessionDeed } from "./own-account.ts"
import type { Person, Sessions } from "./sessions.ts"

/**
 * Ends the present session, and the one that waits in the same browser while an instance admin acts as a user: whoever comes to
 * that browser next must not find it. Where an identity provider opened the present one, resolves with the page of it that signs
 * out there.
 */
export type SignOut = (person: Person & { actor: Actor }, waitingToken: string | undefined) => Promise<string | undefined>

interface SignOutOptions {
  catalog: Catalog
  sessions: Sessions
  audit: Audit
  /** Undefined for a provider that has no such page, or is gone. */
  logoutUrl(provider: string): Promise<string | undefined>
}

export const createSignOut =
  ({ catalog, sessions, audit, logoutUrl }: SignOutOptions): SignOut =>
  async ({ session, actor }, waitingToken) => {
    const waiting = waitingToken === undefined ? undefined : await sessions.find(waitingToken)
    await catalog.transaction(async (statements) => {
      for (const { id } of [session, ...(waiting ? [waiting.session] : [])]) {
        await sessions.revoke(statements, id)
        await audit.write(statements, actor, sessionDeed("accounts.session.end", id))
      }
    })
    return session.provider === null ? undefined : logoutUrl(session.provider)
  }
