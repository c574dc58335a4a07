import { Type as t } from "@sinclair/typebox"
import { type Fault, refuseFaults } from "../domain/error.ts"
import { THINGS } from "../domain/limits.ts"
import { SECRET_PARAMETERS } from "../domain/secret-parameter.ts"
import { fault, inDocumentOrder, inspect, isObject } from "../domain/shape.ts"
import { SHIELD_KINDS } from "../domain/shield.ts"
import { COMPAT_PRODUCTS, type CompatProduct, type Site, type SiteSettings } from "../domain/site.ts"
import { readSitePatch, type SiteFields, SiteInput } from "../domain/site-input.ts"
import { IDENTITY_MODES } from "../domain/visit.ts"
import { readShields, ShieldInput } from "./shield-input.ts"

/** A site as a patch leaves it. */
export interface SiteChanges {
  fields: SiteFields
  settings: SiteSettings
}

/**
 * A site with a merge patch over its fields and its settings applied. Lists are replaced as a whole; of `compat_ids` the
 * products that are named. Throws `validation_failed` with all faults at once.
 */
export function changedSite(site: Site, patch: unknown): SiteChanges {
  if (!isObject(patch)) refuseFaults([fault("", "invalid_type", "must be an object")])
  const entries = Object.entries(patch as object) // anything else has just been refused
  const ofSite = entries.filter(([name]) => Object.hasOwn(SiteInput.properties, name))
  const others = entries.filter(([name]) => !Object.hasOwn(SiteInput.properties, name))
  const { fields, faults } = readSitePatch(site, Object.fromEntries(ofSite))
  const read = readSettings(site.settings, Object.fromEntries(others))
  refuseFaults(inDocumentOrder([...faults, ...read.faults], patch))
  return { fields, settings: read.settings }
}

const CompatIds = t.Array(t.String({ minLength: 1, maxLength: THINGS.compatIdChars }), { maxItems: THINGS.compatIds })

const SettingsPatch = t.Partial(
  t.Object({
    strict_origin: t.Boolean(),
    accept_any_host: t.Boolean(),
    identity_mode: t.Union(IDENTITY_MODES.map((mode) => t.Literal(mode))),
    persistent_days: t.Integer({ minimum: THINGS.persistentDays.min, maximum: THINGS.persistentDays.max }),
    store_user_ids: t.Boolean(),
    consent_default: t.Union([t.Literal("granted"), t.Literal("denied")]),
    respect_gpc: t.Boolean(),
    drop_bots: t.Boolean(),
    drop_spam: t.Boolean(),
    drop_probes: t.Boolean(),
    drop_datacenters: t.Boolean(),
    min_group: t.Integer({ minimum: THINGS.minGroup.min, maximum: THINGS.minGroup.max }),
    bounce_engaged_seconds: t.Integer({ minimum: THINGS.bounceEngagedSeconds.min, maximum: THINGS.bounceEngagedSeconds.max }),
    allowed_query_params: t.Array(t.String({ minLength: 1, maxLength: THINGS.queryParamChars }), {
      maxItems: THINGS.allowedQueryParams,
      uniqueItems: true,
    }),
    hash_routing: t.Boolean(),
    public: t.Boolean(),
    compat_ids: t.Partial(t.Object({ plausible: CompatIds, umami: CompatIds, goatcounter: CompatIds }), { additionalProperties: false }),
    shields: t.Array(ShieldInput, { maxItems: THINGS.shieldsOfKind * SHIELD_KINDS.length }),
  }),
  { additionalProperties: false },
)

function readSettings(present: SiteSettings, patch: object): { settings: SiteSettings; faults: Fault[] } {
  const { fields, faults } = inspect(SettingsPatch, patch)
  const { compat_ids, shields, ...plain } = fields
  const changed = { ...present, ...plain }
  const compat = readCompatIds(present.compat_ids, compat_ids ?? {})
  const shielded = shields ? readShields(present.shields, shields, changed) : { shields: present.shields, faults: [] }
  return {
    settings: { ...changed, compat_ids: compat.ids, shields: shielded.shields },
    faults: [...faults, ...secretNames(fields.allowed_query_params ?? []), ...compat.faults, ...shielded.faults],
  }
}

function secretNames(names: readonly string[]): Fault[] {
  return names.flatMap((name, i) =>
    SECRET_PARAMETERS.has(name.toLowerCase())
      ? [fault(`/allowed_query_params/${i}`, "invalid_choice", "names a parameter that carries secrets, which no page may have")]
      : [],
  )
}

/** What the trackers of the products can send. */
const COMPAT_FORMS: Readonly<Record<CompatProduct, readonly [form: RegExp, says: string]>> = {
  plausible: [/^[^\s,]+$/, "must be a domain"],
  umami: [/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, "must be a UUID"],
  goatcounter: [/^[a-z0-9][a-z0-9-]*$/, "must be a code of letters, digits and -"],
}

function readCompatIds(present: SiteSettings["compat_ids"], patch: Partial<Record<CompatProduct, string[]>>) {
  const ids = { ...present }
  const faults: Fault[] = []
  for (const product of COMPAT_PRODUCTS) {
    const sent = patch[product]?.map((id) => id.toLowerCase())
    if (!sent) continue
    const [form, says] = COMPAT_FORMS[product]
    for (const [i, id] of sent.entries()) if (!form.test(id)) faults.push(fault(`/compat_ids/${product}/${i}`, "invalid_characters", says))
    ids[product] = [...new Set(sent)]
  }
  return { ids, faults }
}
