import { Type as t } from "@sinclair/typebox"
import { type Fault, refuseFaults } from "../../domain/error.ts"
import { THINGS } from "../../domain/limits.ts"
import { SECRET_PARAMETERS } from "../../domain/secret-parameter.ts"
import { fault, inDocumentOrder, inspect, isObject } from "../../domain/shape.ts"
import { SHIELD_KINDS } from "../../domain/shield.ts"
import { COMPAT_PRODUCTS, type CompatProduct, READ_ROLES, type Site, type SiteSettings } from "../../domain/site.ts"
import { readSitePatch, type SiteFields, SiteInput } from "../../domain/site-input.ts"
import { SettingsResponse } from "../../domain/site-response.ts"
import { IDENTITY_MODES } from "../../domain/visit.ts"
import { readShields, ShieldInput } from "../definitions/shield-input.ts"
import type { Terms } from "../definitions/site-things.ts"
import type { Shares } from "../sharing/shares.ts"
import type { Sites } from "./sites.ts"

/** The fields and settings of a site after a patch. */
export interface SiteChanges {
  fields: SiteFields
  settings: SiteSettings
}

/**
 * Applies a merge patch to a site's fields and settings. Lists are replaced as a whole, and `compat_ids` only for the products
 * in the patch. Throws `validation_failed` with all faults at once.
 */
export function changedSite(site: Site, patch: unknown): SiteChanges {
  if (!isObject(patch)) refuseFaults([fault("", "invalid_type", "must be an object")])
  const entries = Object.entries(patch as object) // any other value was rejected above
  const ofSite = entries.filter(([name]) => Object.hasOwn(SiteInput.properties, name))
  const others = entries.filter(([name]) => !Object.hasOwn(SiteInput.properties, name))
  const { fields, faults } = readSitePatch(site, Object.fromEntries(ofSite))
  const read = readSettings(site.settings, Object.fromEntries(others))
  refuseFaults(inDocumentOrder([...faults, ...read.faults], patch))
  return { fields, settings: read.settings }
}

const about = (name: keyof SettingsResponse) => ({ description: SettingsResponse.properties[name].description ?? "" })
const compatIds = (product: CompatProduct) =>
  t.Array(t.String({ minLength: 1, maxLength: THINGS.compatIdChars }), {
    maxItems: THINGS.compatIds,
    description: SettingsResponse.properties.compat_ids.properties[product].description ?? "",
  })

const SETTINGS = t.Object({
  strict_origin: t.Boolean(about("strict_origin")),
  accept_any_host: t.Boolean(about("accept_any_host")),
  identity_mode: t.Union(
    IDENTITY_MODES.map((mode) => t.Literal(mode)),
    about("identity_mode"),
  ),
  persistent_days: t.Integer({
    minimum: THINGS.persistentDays.min,
    maximum: THINGS.persistentDays.max,
    ...about("persistent_days"),
  }),
  store_user_ids: t.Boolean(about("store_user_ids")),
  consent_default: t.Union([t.Literal("granted"), t.Literal("denied")], about("consent_default")),
  respect_gpc: t.Boolean(about("respect_gpc")),
  drop_bots: t.Boolean(about("drop_bots")),
  drop_spam: t.Boolean(about("drop_spam")),
  drop_probes: t.Boolean(about("drop_probes")),
  drop_datacenters: t.Boolean(about("drop_datacenters")),
  min_group: t.Integer({ minimum: THINGS.minGroup.min, maximum: THINGS.minGroup.max, ...about("min_group") }),
  bounce_engaged_seconds: t.Integer({
    minimum: THINGS.bounceEngagedSeconds.min,
    maximum: THINGS.bounceEngagedSeconds.max,
    ...about("bounce_engaged_seconds"),
  }),
  allowed_query_params: t.Array(t.String({ minLength: 1, maxLength: THINGS.queryParamChars }), {
    maxItems: THINGS.allowedQueryParams,
    uniqueItems: true,
    ...about("allowed_query_params"),
  }),
  hash_routing: t.Boolean(about("hash_routing")),
  order_property: t.String({ minLength: 1, maxLength: THINGS.orderPropertyChars, ...about("order_property") }),
  read_role: t.Union(
    READ_ROLES.map((role) => t.Literal(role)),
    about("read_role"),
  ),
  compat_ids: t.Partial(t.Object({ plausible: compatIds("plausible"), umami: compatIds("umami"), goatcounter: compatIds("goatcounter") }), {
    additionalProperties: false,
    ...about("compat_ids"),
  }),
})
const { timezone, retention_days, revenue_currency } = SiteInput.properties
/** The settings of a site that belong to no user, and the fields of the site that are set with them. */
const OwnSettings = t.Object({
  timezone: { ...timezone, ...about("timezone") },
  retention_days: { ...retention_days, ...about("retention_days") },
  revenue_currency: { ...revenue_currency, ...about("revenue_currency") },
  ...SETTINGS.properties,
})

/** Settings in a configuration, which has the other fields of the site elsewhere. */
export const ConfiguredSettings = t.Partial(SETTINGS, { additionalProperties: false })
/** Merge patches of settings, as programs and as users send them. */
export const PublicSettingsPatch = t.Partial(OwnSettings, { title: "PublicSettingsPatch" })
export const OwnSettingsPatch = t.Partial(
  t.Object({ ...OwnSettings.properties, ...t.Pick(SettingsResponse, ["public", "version"]).properties }),
  {
    title: "SettingsPatch",
  },
)

const SettingsPatch = t.Partial(
  t.Object({
    ...SETTINGS.properties,
    public: t.Boolean(),
    shields: t.Array(ShieldInput, { maxItems: THINGS.shieldsOfKind * SHIELD_KINDS.length }),
  }),
  { additionalProperties: false },
)

function readSettings(current: SiteSettings, patch: object): { settings: SiteSettings; faults: Fault[] } {
  const { fields, faults } = inspect(SettingsPatch, patch)
  const { compat_ids, shields, ...plain } = fields
  const changed = { ...current, ...plain }
  const compat = readCompatIds(current.compat_ids, compat_ids ?? {})
  const shielded = shields ? readShields(current.shields, shields, changed) : { shields: current.shields, faults: [] }
  return {
    settings: { ...changed, compat_ids: compat.ids, shields: shielded.shields },
    faults: [...faults, ...secretNames(fields.allowed_query_params ?? []), ...compat.faults, ...shielded.faults],
  }
}

function secretNames(names: readonly string[]): Fault[] {
  return names.flatMap((name, i) =>
    SECRET_PARAMETERS.has(name.toLowerCase())
      ? [fault(`/allowed_query_params/${i}`, "invalid_choice", "is a parameter that contains secrets and is never stored")]
      : [],
  )
}

/** Formats of the ids that other products' trackers send. */
const COMPAT_FORMS: Readonly<Record<CompatProduct, readonly [form: RegExp, detail: string]>> = {
  plausible: [/^[^\s,]+$/, "must be a domain"],
  umami: [/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, "must be a UUID"],
  goatcounter: [/^[a-z0-9][a-z0-9-]*$/, "must be a code of letters, digits and -"],
}

function readCompatIds(current: SiteSettings["compat_ids"], patch: Partial<Record<CompatProduct, string[]>>) {
  const ids = { ...current }
  const faults: Fault[] = []
  for (const product of COMPAT_PRODUCTS) {
    const sent = patch[product]?.map((id) => id.toLowerCase())
    if (!sent) continue
    const [form, detail] = COMPAT_FORMS[product]
    for (const [i, id] of sent.entries())
      if (!form.test(id)) faults.push(fault(`/compat_ids/${product}/${i}`, "invalid_characters", detail))
    ids[product] = [...new Set(sent)]
  }
  return { ids, faults }
}

export function toSettingsResponse({ timezone, retention_days, revenue_currency, settings, version }: Site): SettingsResponse {
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

/** Changes of a site's settings by users. Errors are those of `Sites.configure` and `Shares.publish`. */
export interface SettingsOfSites {
  /** Applies a merge patch on behalf of a user. */
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

/** Rejects fields that other routes change. `more` are further ones. */
export function refuseOthers(patch: unknown, more: readonly string[] = []): void {
  if (!isObject(patch)) return
  const others = Object.keys(patch).filter((name) => ["name", "hosts", "shields", ...more].includes(name))
  refuseFaults(others.map((name) => fault(`/${name}`, "unknown_field", "is not a setting")))
}
