import { AppError, fault, type Job, refuseFaults, refuseOtherVersion, refuseStaleBody } from "#plugin"
import { type Author, type IntegrationsHost, refuseOffline } from "../area.ts"
import { integrationError } from "../errors.ts"
import type { Integration } from "../integration.ts"
import { auditChange } from "../lifecycle.ts"
import { insertIntegration, integrationById, integrationsOfKind, remap, setNextRun } from "../rows.ts"
import { refusalOf, SEARCH_CONSOLE } from "./google.ts"
import { readMapping } from "./input.ts"
import { searchProperties, UNVERIFIED } from "./properties.ts"
import { enqueueSync, SYNC } from "./work.ts"

const MIN_PAUSE_MS = 600_000

/** The property in Search Console that a site reports on. */
export interface Mappings {
  /** Maps a property of a connected account. The answer is the mapping, whose back-fill begins. */
  put(author: Author, body: unknown, show: (integration: Integration) => Promise<object>): Promise<Integration>
  /** Fetches the data of a site now. Throws `rate_limited` within ten minutes, and until a pause ends that Google has asked for. */
  sync(author: Author): Promise<Job>
}

export function createMappings(host: IntegrationsHost): Mappings {
  const { db, now } = host
  const { kind, scope } = SEARCH_CONSOLE

  const isAccount = (integration: Integration | undefined, { site }: Author): integration is Integration =>
    integration?.kind === kind && integration.site_id === null && integration.organization_id === site.organization_id

  return {
    async put(author, body, show) {
      const { site } = author
      const { integration_id, property, search_types, version } = readMapping(body)
      const account = await integrationById(db, integration_id)
      if (!isAccount(account, author) || account.connection_id === null)
        return refuseField("/integration_id", "is not a connection of this organization to Search Console")
      refuseOffline(host)
      const connection_id = account.connection_id
      const properties = await searchProperties(host, { connectionId: connection_id, scope }, site).catch((error) => {
        throw refusalOf(error)
      })
      const found = properties.find((one) => one.property === property)
      if (!found) return refuseField("/property", "is not a property of this account")
      if (found.permission === UNVERIFIED)
        throw integrationError(
          "property_not_verified",
          "The account is not verified for this property. Verify it in Search Console, or ask its owner for access.",
        )
      const [present] = await integrationsOfKind(db, site.id, kind)
      const shown = present && version !== undefined ? await show(present) : {}
      return db.transaction(async (statements) => {
        const [before] = await integrationsOfKind(statements, site.id, kind)
        if (before) {
          refuseStaleBody(before, version, () => shown)
          refuseOtherVersion(before, author.expected)
        }
        const config = { property, search_types }
        const fields = { name: property.slice(0, 100), connection_id, account_label: account.account_label, config }
        const owner = { organization_id: site.organization_id, site_id: site.id, created_by: author.userId }
        const mapping = before
          ? await remap(statements, before.id, fields, now())
          : await insertIntegration(statements, { kind, ...fields, ...owner, status: "connecting", next_run_at: now() }, now())
        await auditChange(host, statements, author, before ? "update" : "create", mapping, {
          property: [before?.config.property ?? null, property],
          search_types: [before?.config.search_types ?? null, search_types],
        })
        await enqueueSync(host, mapping, statements)
        return mapping
      })
    },

    async sync(author) {
      const [mapping] = await integrationsOfKind(db, author.site.id, kind)
      if (!mapping) throw integrationError("not_connected", "This site has no property in Search Console. Map one first.")
      const connection = await host.connections.get(mapping.organization_id, mapping.connection_id ?? 0)
      if (connection?.status === "needs_reauth" || mapping.status === "needs_reauth")
        throw integrationError("needs_reauth", "The access to the Google account has ended. Connect the account again.")
      await refuseEarly(mapping)
      refuseOffline(host)
      return db.transaction(async (statements) => {
        await setNextRun(statements, mapping.id, now())
        const job = (await enqueueSync(host, mapping, statements, author.userId))! // it has no slot that could be taken
        await auditChange(host, statements, author, "sync", mapping)
        return job
      })
    },
  }

  async function refuseEarly({ site_id, status, last_error_code, next_run_at }: Integration): Promise<void> {
    const recent = await host.jobs.list({ name: SYNC, siteId: site_id! }, { limit: 50 }) // mappings have a site
    const last = recent.find(({ created_by }) => created_by !== null)
    const isPaused = status === "degraded" && last_error_code === "quota" && next_run_at !== null
    const allowedAt = Math.max(last ? last.created_at + MIN_PAUSE_MS : 0, isPaused ? next_run_at : 0)
    if (allowedAt <= now()) return
    const retry_after = Math.ceil((allowedAt - now()) / 1_000)
    const cause =
      isPaused && next_run_at === allowedAt ? "Google allows no more requests for now." : "The data was fetched less than 10 minutes ago."
    throw new AppError("rate_limited", `${cause} Try again later.`, { retry_after })
  }
}

function refuseField(pointer: string, predicate: string): never {
  refuseFaults([fault(pointer, "invalid_choice", predicate)])
  throw new Error("The fault was not refused") // unreachable, which the type of `refuseFaults` does not state
}
