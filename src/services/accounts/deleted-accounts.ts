import type { Actor } from "../../domain/audit.ts"
import type { Site } from "../../domain/site.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import type { SessionFacts } from "../../store/catalog/instance-lists.ts"
import { listSiteMembers } from "../../store/catalog/members.ts"
import type { Keys } from "../api-keys/api-keys.ts"
import type { Audit } from "../audit/audit.ts"
import type { Sessions } from "../sign-in/sessions.ts"

/** The API keys and members that lose access to a site when it is transferred to another organization. */
export interface DetachedAccess {
  api_keys: { id: number; name: string }[]
  site_members: { user_id: number; email: string; role: string }[]
}

interface EndingsOptions {
  catalog: Catalog
  keys: Pick<Keys, "list">
  sessions: Pick<Sessions, "revoke">
  audit: Pick<Audit, "write">
}

/** Lets instance admins end sessions of users and see who loses access to a transferred site. */
export function createEndings({ catalog, keys, sessions, audit }: EndingsOptions) {
  return {
    async detachedBy({ id, organization_id }: Site): Promise<DetachedAccess> {
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
