import { type Static, Type as t } from "@sinclair/typebox"
import {
  type Actor,
  fault,
  inspect,
  type OwnStatements,
  parseCurrency,
  parseHost,
  refuseFaults,
  refuseStaleBody,
  type Site,
  sql,
} from "#plugin"
import { LIMITS, type RevenueHost } from "./host.ts"
import { IGNORED_REFERRERS } from "./ignored-referrers.ts"

export const RECOMPUTE_JOB = "recompute-transactions"

export const REFUND_BASES = ["refund_date", "order_date"] as const
export type RefundBasis = (typeof REFUND_BASES)[number]

/** The settings of a site, with their defaults. */
export interface RevenueSettings {
  baseCurrency: string
  refundBasis: RefundBasis
  includeClient: boolean
  lookbackDays: number
  ignoredReferrers: readonly string[]
  isRecomputing: boolean
  /** Whether the last recomputation ended before it had done everything: it failed for good, or was cancelled. */
  hasFailedRecompute: boolean
  version: number
}

const FIELDS = {
  base_currency: t.Union([t.String(), t.Null()], {
    description: "Currency to which amounts are converted, as an ISO 4217 code. null for the currency of the site.",
  }),
  refund_basis: t.Union([t.Literal("refund_date"), t.Literal("order_date")], {
    description: "Day on which a refund counts: its own day, or that of its order.",
  }),
  include_client: t.Boolean({ description: "Whether amounts that only a browser reported count by default." }),
  lookback_days: t.Integer({
    minimum: LIMITS.lookbackDays.min,
    maximum: LIMITS.lookbackDays.max,
    description: "Days before a sale in which visits can be credited with it.",
  }),
  ignored_referrers: t.Array(t.String({ minLength: 1, maxLength: 253 }), {
    maxItems: LIMITS.ignoredReferrers,
    uniqueItems: true,
    description:
      "Hosts, with all hosts below them, from which a visit doesn't count as a touch. Default: common payment pages. The hosts of the site never count.",
  }),
}
const VERSION = t.Integer({ minimum: 1, description: "Version of the settings, which increases with each change." })

export const SettingsInput = t.Object({ ...FIELDS, version: VERSION }, { additionalProperties: false, title: "RevenueSettingsInput" })

export const SettingsResponse = t.Object(
  {
    ...FIELDS,
    ignored_referrers_are_default: t.Boolean({ description: "Whether `ignored_referrers` is the list that comes with Footfall." }),
    recomputing: t.Boolean({ description: "Whether transactions are being recomputed after a change." }),
    recompute_failed: t.Boolean({
      description: "Whether the last recomputation failed or was cancelled, so that some transactions are as they were before.",
    }),
    version: VERSION,
  },
  { title: "RevenueSettings" },
)
export type SettingsResponse = Static<typeof SettingsResponse>

interface Row {
  base_currency: string | null
  refund_basis: RefundBasis
  include_client: number
  lookback_days: number
  ignored_referrers_json: string | null
  recompute_state: "queued" | "running" | "done"
  /** Currency to which stored amounts are converted. */
  stored_currency: string | null
  version: number
}

const DEFAULTS: Row = {
  base_currency: null,
  refund_basis: "refund_date",
  include_client: 1,
  lookback_days: 30,
  ignored_referrers_json: null,
  recompute_state: "done",
  stored_currency: null,
  version: 1,
}

const rowOf = async (statements: OwnStatements, siteId: number): Promise<Row> =>
  (await statements.get<Row>(sql`select base_currency, refund_basis, include_client, lookback_days, ignored_referrers_json, recompute_state,
    stored_currency, version from revenue_settings where site_id = ${siteId}`)) ?? DEFAULTS

const referrersOf = ({ ignored_referrers_json: json }: Row): readonly string[] =>
  json === null ? IGNORED_REFERRERS : (JSON.parse(json) as string[]) // written by `write`

const baseCurrencyOf = (row: Row, site: Site): string => row.base_currency ?? site.revenue_currency

/** Returns whether stored amounts are converted to another currency. */
const isConvertedOtherwise = ({ stored_currency: stored }: Row, currency: string | null): boolean => stored !== null && stored !== currency

/** Whether transactions are being recomputed, or have been left half done. */
type Recomputation = Pick<RevenueSettings, "isRecomputing" | "hasFailedRecompute">

const settingsOf = (row: Row, site: Site, recomputation: Recomputation): RevenueSettings => ({
  baseCurrency: baseCurrencyOf(row, site),
  refundBasis: row.refund_basis,
  includeClient: row.include_client === 1,
  lookbackDays: row.lookback_days,
  ignoredReferrers: referrersOf(row),
  ...recomputation,
  version: row.version,
})

const formatSettings = (row: Row, { isRecomputing, hasFailedRecompute }: Recomputation): SettingsResponse => ({
  base_currency: row.base_currency,
  refund_basis: row.refund_basis,
  include_client: row.include_client === 1,
  lookback_days: row.lookback_days,
  ignored_referrers: [...referrersOf(row)],
  ignored_referrers_are_default: row.ignored_referrers_json === null,
  recomputing: isRecomputing,
  recompute_failed: hasFailedRecompute,
  version: row.version,
})

/** Settings of sites. `changed` runs in the transaction of a change that makes stored conversions or touches obsolete. */
export function createSettings({ db, audit, jobs }: RevenueHost, changed: (statements: OwnStatements, site: Site) => Promise<unknown>) {
  /** A job that failed for good or was cancelled has left its state behind. */
  async function recomputationOf(site: Site, { recompute_state: state }: Row): Promise<Recomputation> {
    const [last] = state === "done" ? [] : await jobs.list({ name: RECOMPUTE_JOB, siteId: site.id }, { limit: 1 })
    const isRecomputing = last !== undefined && !jobs.isFinished(last)
    return { isRecomputing, hasFailedRecompute: state !== "done" && !isRecomputing }
  }

  return {
    async of(site: Site): Promise<RevenueSettings> {
      const row = await rowOf(db, site.id)
      return settingsOf(row, site, await recomputationOf(site, row))
    },

    async get(site: Site): Promise<SettingsResponse> {
      const row = await rowOf(db, site.id)
      return formatSettings(row, await recomputationOf(site, row))
    },

    /** Replaces the settings. Throws `validation_failed` or `version_conflict`. */
    async put(site: Site, body: unknown, actor: Actor): Promise<SettingsResponse> {
      const wanted = readInput(body)
      const recomputation = await recomputationOf(site, await rowOf(db, site.id))
      return db.transaction(async (statements) => {
        const row = await rowOf(statements, site.id)
        refuseStaleBody(row, wanted.version, () => formatSettings(row, recomputation))
        const chosen: Row = { ...row, ...wanted, version: row.version + 1 }
        const next: Row = { ...chosen, stored_currency: baseCurrencyOf(chosen, site) }
        await write(statements, site.id, next)
        await audit.write(statements, actor, {
          action: "revenue.settings.update",
          target: { type: "revenue_settings", id: site.id, label: site.name },
          siteId: site.id,
          organizationId: site.organization_id,
          changes: changesOf(row, next),
        })
        const needsRecompute =
          next.base_currency !== row.base_currency ||
          isConvertedOtherwise(row, next.stored_currency) ||
          next.lookback_days !== row.lookback_days ||
          next.ignored_referrers_json !== row.ignored_referrers_json
        if (needsRecompute) await changed(statements, site)
        return formatSettings(next, needsRecompute ? { isRecomputing: true, hasFailedRecompute: false } : recomputation)
      })
    },

    /** Starts a recomputation after the currency of a site has changed, unless the area has its own. */
    async followCurrency(site: Site): Promise<void> {
      const known = await rowOf(db, site.id)
      if (known.stored_currency === baseCurrencyOf(known, site)) return
      await db.transaction(async (statements) => {
        const row = await rowOf(statements, site.id)
        const stored_currency = baseCurrencyOf(row, site)
        await write(statements, site.id, { ...row, stored_currency })
        if (isConvertedOtherwise(row, stored_currency)) await changed(statements, site)
      })
    },
  }
}
export type RevenueSettingsStore = ReturnType<typeof createSettings>

function readInput(body: unknown): Omit<Row, "recompute_state" | "stored_currency"> {
  const { fields, faults } = inspect(SettingsInput, body, "", ["id", "recomputing", "recompute_failed", "ignored_referrers_are_default"])
  const { base_currency: base, ignored_referrers: sent } = fields
  const baseCurrency = base === undefined || base === null ? null : parseCurrency(base)
  if (baseCurrency === undefined) faults.push(fault("/base_currency", "unknown_currency", "must be an active ISO 4217 code"))
  const hosts = sent?.map((host) => parseHost(host))
  hosts?.forEach((host, i) => {
    if (host === undefined) faults.push(fault(`/ignored_referrers/${i}`, "invalid_host", "must be a host name, such as paypal.com"))
  })
  refuseFaults(faults)
  const input = fields as Static<typeof SettingsInput> // without faults no field is missing
  const list = [...new Set(hosts as string[])].sort() // checked above
  return {
    base_currency: baseCurrency ?? null,
    refund_basis: input.refund_basis,
    include_client: input.include_client ? 1 : 0,
    lookback_days: input.lookback_days,
    // A list like the default follows the default when that changes.
    ignored_referrers_json: Bun.deepEquals(list, IGNORED_REFERRERS) ? null : JSON.stringify(list),
    version: input.version,
  }
}

const write = (statements: OwnStatements, siteId: number, row: Row): Promise<void> =>
  statements.run(sql`insert into revenue_settings
    (site_id, base_currency, refund_basis, include_client, lookback_days, ignored_referrers_json, stored_currency, version)
    values (${siteId}, ${row.base_currency}, ${row.refund_basis}, ${row.include_client}, ${row.lookback_days},
      ${row.ignored_referrers_json}, ${row.stored_currency}, ${row.version})
    on conflict (site_id) do update set base_currency = excluded.base_currency, refund_basis = excluded.refund_basis,
      include_client = excluded.include_client, lookback_days = excluded.lookback_days,
      ignored_referrers_json = excluded.ignored_referrers_json, stored_currency = excluded.stored_currency, version = excluded.version`)

const UNKNOWN: Recomputation = { isRecomputing: false, hasFailedRecompute: false }

function changesOf(before: Row, after: Row): Record<string, [unknown, unknown]> {
  const [old, next] = [formatSettings(before, UNKNOWN), formatSettings(after, UNKNOWN)]
  const names = ["base_currency", "refund_basis", "include_client", "lookback_days", "ignored_referrers"] as const
  return Object.fromEntries(names.filter((name) => !Bun.deepEquals(old[name], next[name])).map((name) => [name, [old[name], next[name]]]))
}
