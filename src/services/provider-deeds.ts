import { type Actor, changesBetween, REDACTED } from "../domain/audit.ts"
import type { StoredProvider } from "../store/catalog/oidc-providers.ts"
import type { Audit } from "./audit.ts"
import type { Alongside } from "./site-things.ts"

/** What a write of a provider writes beside: its row in the log, which says of a secret only that it was changed. */
export const providerRecorded =
  (audit: Pick<Audit, "write">, actor: Actor, verb: "create" | "update" | "delete"): Alongside<StoredProvider> =>
  async (statements, { before, after }) => {
    const { id, name, organization_id } = (after ?? before)! // one of the two is there
    const { secret_id: _, ...others } = changesBetween(before, after)
    const secret = before?.secret_id === after?.secret_id ? {} : { client_secret: [marked(before), marked(after)] as const }
    await audit.write(statements, actor, {
      action: `accounts.provider.${verb}`,
      target: { type: "provider", id, label: name },
      organizationId: organization_id ?? undefined,
      changes: { ...others, ...secret },
    })
  }

const marked = (provider: StoredProvider | undefined): string | null => (provider?.secret_id == null ? null : REDACTED)
