import type { Actor } from "../../domain/audit.ts"
import type { Site } from "../../domain/site.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import type { SessionFacts } from "../../store/catalog/instance-lists.ts"
import { listSiteMembers } from "../../store/catalog/members.ts"
import type { Audit } from "../audit.ts"
import type { Keys } from "../keys.ts"
import type { Sessions } from "../sessions.ts"

/** What would lose a site that goes to another organization: keys that name it, and people with a row of it. */
export interface Detached {
  api_keys: { id: number; name: string }[]
  site_members: { user_id: number; email: string; role: string }[]
}

interface EndingsOptions {
  catalog: Catalog
  keys: Pick<Keys, "list">
  sessions: Pick<Sessions, "revoke">
  audit: Pick<Audit, "write">
}

/** Ends what somebody else began. */
export function createEndings({ catalog, keys, sessions, audit }: EndingsOptions) {
  return {
    async detachedBy({ id, organization_id }: Site): Promise<Detached> {
      const named = (await keys.list(organization_id)).filter(({ site_ids, revoked_at }) => revoked_at === null && site_ids?.includes(id))
      const members = await listSiteMembers(catalog, id)
      return {
        api_keys: named.map((key) => ({ id: key.id, name: key.name })),
        site_members: members.map(({ user_id, email, role }) => ({ user_id, email, role })),
      }
    },
    async endSession(actor: Actor, { id, email }: Pick<SessionFacts, "id" | "email">): Promise<void> {
      await catalog.transaction(async (statements) => {
        if (!(await sessions.revoke(statements, id))) return
        await audit.write(statements, actor, { action: "admin.session.end", target: { type: "session", id, label: email } })
      })
    },
  }
}
