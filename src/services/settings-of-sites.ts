import { type Static, Type as t } from "@sinclair/typebox"
import { refuseFaults } from "../domain/error.ts"
import { fault, isObject } from "../domain/shape.ts"
import type { Site } from "../domain/site.ts"
import type { Shares } from "./shares.ts"
import type { Terms } from "./site-things.ts"
import type { Sites } from "./sites.ts"

const Texts = t.Array(t.String())

/** All that can be set of a site, beside its name, its hosts and its shields. */
export const SettingsShown = t.Object(
  {
    timezone: t.String(),
    retention_days: t.Union([t.Integer(), t.Null()]),
    revenue_currency: t.String(),
    strict_origin: t.Boolean(),
    accept_any_host: t.Boolean(),
    identity_mode: t.String(),
    persistent_days: t.Integer(),
    store_user_ids: t.Boolean(),
    consent_default: t.Union([t.Literal("granted"), t.Literal("denied")]),
    respect_gpc: t.Boolean(),
    drop_bots: t.Boolean(),
    drop_spam: t.Boolean(),
    drop_probes: t.Boolean(),
    drop_datacenters: t.Boolean(),
    min_group: t.Integer(),
    bounce_engaged_seconds: t.Integer(),
    allowed_query_params: Texts,
    hash_routing: t.Boolean(),
    compat_ids: t.Object({ plausible: Texts, umami: Texts, goatcounter: Texts }),
    public: t.Boolean(),
    version: t.Integer(),
  },
  { title: "SiteSettings" },
)
export type SettingsShown = Static<typeof SettingsShown>

export function shownSettings({ timezone, retention_days, revenue_currency, settings, version }: Site): SettingsShown {
  const { shields: _, allowed_query_params, compat_ids, ...plain } = settings
  const { plausible, umami, goatcounter } = compat_ids
  return {
    timezone,
    retention_days,
    revenue_currency,
    ...plain,
    allowed_query_params: [...allowed_query_params],
    compat_ids: { plausible: [...plausible], umami: [...umami], goatcounter: [...goatcounter] },
    version,
  }
}

/** The settings of sites, as people change them. Errors are those of `Sites.configure`, and of `Shares.publish`. */
export interface SettingsOfSites {
  /** A merge patch. `userId` is who changes them. */
  update(site: Site, patch: unknown, userId: number, terms?: Terms<Site>): Promise<Site>
}

interface SettingsOfSitesOptions {
  sites: Pick<Sites, "configure">
  shares: Pick<Shares, "publish">
}

export function createSettingsOfSites({ sites, shares }: SettingsOfSitesOptions): SettingsOfSites {
  return {
    async update(site, patch, userId, terms) {
      refuseOthers(patch)
      return sites.configure(site.id, patch, {
        ...terms,
        async alongside(statements, change) {
          const [before, after] = [change.before?.settings.public ?? false, change.after?.settings.public ?? false]
          if (before !== after) await shares.publish(statements, site, after, userId)
          await terms?.alongside?.(statements, change)
        },
      })
    },
  }
}

/** What else a site has is changed elsewhere. */
function refuseOthers(patch: unknown): void {
  if (!isObject(patch)) return
  const others = Object.keys(patch).filter((name) => ["name", "hosts", "shields"].includes(name))
  refuseFaults(others.map((name) => fault(`/${name}`, "unknown_field", "is no setting")))
}
