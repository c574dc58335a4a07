import type { Actor } from "../domain/audit.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import type { Audit } from "./audit.ts"
import { sessionDeed } from "./own-account.ts"
import type { Person, Sessions } from "./sessions.ts"

/** Ends the present session. Where an identity provider opened it, resolves with the page of it that signs out there. */
export type SignOut = (person: Person & { actor: Actor }) => Promise<string | undefined>

interface SignOutOptions {
  catalog: Catalog
  sessions: Sessions
  audit: Audit
  /** Undefined for a provider that has no such page, or is gone. */
  logoutUrl(provider: string): Promise<string | undefined>
}

export const createSignOut =
  ({ catalog, sessions, audit, logoutUrl }: SignOutOptions): SignOut =>
  async ({ session, actor }) => {
    await catalog.transaction(async (statements) => {
      await sessions.revoke(statements, session.id)
      await audit.write(statements, actor, sessionDeed("accounts.session.end", session.id))
    })
    return session.provider === null ? undefined : logoutUrl(session.provider)
  }
