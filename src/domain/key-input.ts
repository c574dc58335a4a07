import { type Static, Type as t } from "@sinclair/typebox"
import { type Fault, refuseFaults } from "./error.ts"
import { type ApiKey, SCOPES } from "./key.ts"
import { API, ORGANIZATION, THINGS } from "./limits.ts"
import { instantText, parseInstant } from "./moment.ts"
import { fault, inDocumentOrder, inspect } from "./shape.ts"

const SITE_FIELDS = {
  site_access: t.Union([t.Literal("all"), t.Literal("list")], { description: "all = every site of the organization, future ones too" }),
  site_ids: t.Optional(
    t.Union(
      [
        t.Array(t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), { maxItems: ORGANIZATION.keySites, uniqueItems: true }),
        t.Null(),
      ],
      { description: "With list; an empty one reaches nothing" },
    ),
  ),
}
const OTHER_FIELDS = {
  name: t.String({ minLength: 1, maxLength: THINGS.siteNameChars }),
  scopes: t.Array(t.Unknown(), { minItems: 1, maxItems: SCOPES.length, uniqueItems: true, description: SCOPES.join(", ") }),
  expires_at: t.Optional(t.Union([t.String(), t.Null()], { description: "RFC 3339; null = never; without it as the policy says" })),
  ip_allow: t.Optional(
    t.Union([t.Array(t.String(), { maxItems: API.keyRanges }), t.Null()], { description: "Addresses and ranges; empty = from everywhere" }),
  ),
  rate_limit: t.Optional(
    t.Union([t.Integer(API.keyRateLimit), t.Null()], { description: "Requests per minute; null = as the instance allows" }),
  ),
}
const PERSONAL = { personal: t.Optional(t.Boolean({ description: "Ends when its creator leaves" })) }

/** What one may choose of a key. */
export const KeyInput = t.Object({ ...OTHER_FIELDS, ...SITE_FIELDS, ...PERSONAL }, { additionalProperties: false, title: "KeyInput" })
/** The same of a key of one site. */
export const SiteKeyInput = t.Object({ ...OTHER_FIELDS, ...PERSONAL }, { additionalProperties: false, title: "SiteKeyInput" })

const sentBack = t.Optional(t.Unknown())
/** What GET says besides may be sent back. */
export const KeyPatch = t.Object(
  {
    ...t.Partial(t.Object({ ...OTHER_FIELDS, ...SITE_FIELDS })).properties,
    version: t.Optional(t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
    ...Object.fromEntries(
      [
        "prefix",
        "last4",
        "personal",
        "created_by",
        "state",
        "owner_left",
        "revoked_at",
        "last_used_at",
        "last_used_ip_prefix",
        "last_used_agent",
      ].map((name) => [name, sentBack]),
    ),
  },
  { additionalProperties: false, title: "KeyPatch" },
)

export type KeyFields = Pick<ApiKey, "name" | "scopes" | "site_ids" | "ip_allow" | "rate_limit" | "expires_at">
/** As they are sent: a patch has some. */
type Sent = Partial<Static<typeof KeyInput>>

/** What a key is judged by. */
export interface KeyTerms {
  now: number
  /** Ids of the organization's sites. */
  ownSites: ReadonlySet<number>
  /** How long keys of the organization live, in days; `most` null: for ever. */
  life: { usual: number; most: number | null }
  /** Whether a text is an address or a range. */
  isRange(text: string): boolean
}

const DAY_MS = 86_400_000

/** Throws `validation_failed` with all faults at once. With `site` the key reaches that one alone, and none is named. */
export function parseKey(body: unknown, terms: KeyTerms, site?: number): KeyFields & { personal: boolean } {
  const { fields, faults } = inspect(site === undefined ? KeyInput : SiteKeyInput, body)
  const sent: Sent = site === undefined ? fields : { ...fields, site_access: "list", site_ids: [site] }
  refuseFaults(inDocumentOrder([...faults, ...unsaid(siteFaults(sent, terms), faults), ...meaningFaults(sent, terms)], body))
  const { name, ip_allow, rate_limit = null, personal = false } = sent
  const expires_at = sent.expires_at === undefined ? terms.now + terms.life.usual * DAY_MS : endOf(sent.expires_at)
  // No fault: the fields are there.
  return { name: name!, scopes: scopesOf(sent), site_ids: sitesOf(sent), ip_allow: ip_allow ?? [], rate_limit, expires_at, personal }
}

/** A key after a merge patch. Throws `validation_failed` with all faults at once. */
export function patchKey(key: ApiKey, body: unknown, terms: KeyTerms): KeyFields & { version: number | undefined } {
  const { fields, faults } = inspect(KeyPatch, body)
  const { version, ...rest } = fields as Sent & { version?: number }
  const present: Sent = key.site_ids === null ? { site_access: "all" } : { site_access: "list", site_ids: [...key.site_ids] }
  // Of a list that is given up, the sites are not meant any more.
  const sites: Sent = rest.site_access === "all" ? rest : { ...present, ...rest }
  refuseFaults(inDocumentOrder([...faults, ...unsaid(siteFaults(sites, terms), faults), ...meaningFaults(rest, terms)], body))
  return {
    name: rest.name ?? key.name,
    scopes: rest.scopes ? scopesOf(rest) : key.scopes,
    site_ids: sitesOf(sites),
    ip_allow: rest.ip_allow === undefined ? key.ip_allow : (rest.ip_allow ?? []),
    rate_limit: rest.rate_limit === undefined ? key.rate_limit : rest.rate_limit,
    // What was shown to the second is the same to the second.
    expires_at: rest.expires_at === undefined || isShown(rest.expires_at, key) ? key.expires_at : endOf(rest.expires_at),
    version,
  }
}

/** A list that is at fault itself is not missing. */
const unsaid = (found: readonly Fault[], said: readonly Fault[]): Fault[] =>
  found.filter(({ pointer }) => !said.some((fault) => fault.pointer.startsWith(pointer)))

const isShown = (text: string | null, { expires_at }: ApiKey): boolean =>
  text === null ? expires_at === null : expires_at !== null && text === instantText(expires_at)

const endOf = (text: string | null): number | null => (text === null ? null : parseInstant(text)!) // it was judged

const scopesOf = ({ scopes = [] }: Sent) => SCOPES.filter((scope) => scopes.includes(scope))

const sitesOf = ({ site_access, site_ids }: Sent) => (site_access === "all" ? null : (site_ids ?? []))

function siteFaults({ site_access, site_ids }: Sent, { ownSites }: KeyTerms): Fault[] {
  if (site_access === "all") return site_ids?.length ? [fault("/site_ids", "invalid_choice", "is for keys with site_access list")] : []
  if (site_access === "list" && !site_ids) return [fault("/site_ids", "required", "is required with site_access list")]
  return (site_ids ?? []).flatMap((id, i) =>
    ownSites.has(id) ? [] : [fault(`/site_ids/${i}`, "invalid_choice", "must be a site of the organization")],
  )
}

function meaningFaults({ scopes = [], ip_allow, expires_at }: Sent, { now, life, isRange }: KeyTerms): Fault[] {
  const known: readonly unknown[] = SCOPES
  const found = scopes.flatMap((scope, i) =>
    known.includes(scope) ? [] : [fault(`/scopes/${i}`, "invalid_choice", `must be one of ${SCOPES.join(", ")}`, SCOPES)],
  )
  ;(ip_allow ?? []).forEach((range, i) => {
    if (!isRange(range)) found.push(fault(`/ip_allow/${i}`, "invalid_choice", "must be an address or a range such as 203.0.113.0/24"))
  })
  return expires_at === undefined ? found : [...found, ...endFaults(expires_at, now, life.most)]
}

function endFaults(expires_at: string | null, now: number, most: number | null): Fault[] {
  const at = "/expires_at"
  if (expires_at === null) return most === null ? [] : [fault(at, "expiry_required", `must lie within ${most} days`)]
  const end = parseInstant(expires_at)
  if (end === undefined) return [fault(at, "invalid_date", "must be a time such as 2027-01-31T12:00:00Z")]
  if (end <= now) return [fault(at, "out_of_range", "must lie in the future")]
  return most !== null && end > now + most * DAY_MS ? [fault(at, "out_of_range", `must lie within ${most} days`)] : []
}
