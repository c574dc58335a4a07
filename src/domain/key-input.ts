import { type Static, Type as t } from "@sinclair/typebox"
import { type Fault, refuseFaults } from "./error.ts"
import { type ApiKey, SCOPES } from "./key.ts"
import { type KeyMaker, rightsBeyond } from "./key-bounds.ts"
import { API, ORGANIZATION, THINGS } from "./limits.ts"
import { instantText, parseInstant } from "./moment.ts"
import { fault, inDocumentOrder, inspect } from "./shape.ts"

const SITE_FIELDS = {
  site_access: t.Union([t.Literal("all"), t.Literal("list")], {
    description: "`all` reaches every site of the organization, including future ones; `list` reaches the sites in `site_ids`.",
  }),
  site_ids: t.Optional(
    t.Union(
      [
        t.Array(t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }), { maxItems: ORGANIZATION.keySites, uniqueItems: true }),
        t.Null(),
      ],
      {
        description:
          "Ids of the sites that the key has access to. Required with `site_access` `list`. An empty list gives access to no site.",
      },
    ),
  ),
}
const OTHER_FIELDS = {
  name: t.String({ minLength: 1, maxLength: THINGS.siteNameChars, description: "Name of the key." }),
  scopes: t.Array(t.Unknown(), {
    minItems: 1,
    maxItems: SCOPES.length,
    uniqueItems: true,
    description: `Scopes of the key: ${SCOPES.join(", ")}.`,
  }),
  expires_at: t.Optional(
    t.Union([t.String(), t.Null()], {
      description: "Expiry time (RFC 3339). null means never. Default: the key lifetime in the policy of the organization.",
    }),
  ),
  ip_allow: t.Optional(
    t.Union([t.Array(t.String(), { maxItems: API.keyRanges }), t.Null()], {
      description: "IP addresses and CIDR ranges from which the key can be used. Empty or null means everywhere. Default: empty.",
    }),
  ),
  rate_limit: t.Optional(
    t.Union([t.Integer(API.keyRateLimit), t.Null()], {
      description: "Maximum number of requests per minute. null means the limit of the instance. Default: null.",
    }),
  ),
}
const PERSONAL = {
  personal: t.Optional(
    t.Boolean({ description: "Whether the key belongs to its creator and stops working when the creator leaves. Default: false." }),
  ),
}

/** The writable fields of a new API key. */
export const KeyInput = t.Object({ ...OTHER_FIELDS, ...SITE_FIELDS, ...PERSONAL }, { additionalProperties: false, title: "KeyInput" })
/** The writable fields of a new API key for a single site. */
export const SiteKeyInput = t.Object({ ...OTHER_FIELDS, ...PERSONAL }, { additionalProperties: false, title: "SiteKeyInput" })

/** The writable fields of a new API key that another key creates for a single site. */
export const MadeKeyInput = t.Object(OTHER_FIELDS, { additionalProperties: false, title: "ApiKeyInput" })

const ignoredField = t.Optional(t.Unknown({ description: "Read-only. Accepted and ignored." }))
/** A merge patch of an API key. Read-only fields of the GET response are accepted and ignored. */
export const KeyPatch = t.Object(
  {
    ...t.Partial(t.Object({ ...OTHER_FIELDS, ...SITE_FIELDS })).properties,
    version: t.Optional(t.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: "Version that the change is based on." })),
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
      ].map((name) => [name, ignoredField]),
    ),
  },
  { additionalProperties: false, title: "KeyPatch" },
)

export type KeyFields = Pick<ApiKey, "name" | "scopes" | "site_ids" | "ip_allow" | "rate_limit" | "expires_at">
/** The fields as they were sent; a patch contains only some of them. */
type Sent = Partial<Static<typeof KeyInput>>

/** The context in which a key is validated. */
export interface KeyTerms {
  now: number
  /** Ids of the organization's sites. */
  ownSites: ReadonlySet<number>
  /** Default and maximum lifetime of keys in the organization, in days. Null means unlimited. */
  life: { default: number; maximum: number | null }
  /** Returns whether a text is an IP address or a CIDR range. */
  isRange(text: string): boolean
  /** Key that creates the new one, which has its limits unless the body names stricter ones. */
  maker?: KeyMaker
}

const DAY_MS = 86_400_000

/**
 * Reads a new API key from a request body. With `site`, the key reaches only that site and the body names none. Throws
 * `validation_failed` with all faults at once.
 */
export function parseKey(body: unknown, terms: KeyTerms, site?: number): KeyFields & { personal: boolean } {
  const { maker } = terms
  const { fields, faults } = inspect(site === undefined ? KeyInput : maker ? MadeKeyInput : SiteKeyInput, body)
  const sent: Sent = site === undefined ? fields : { ...fields, site_access: "list", site_ids: [site] }
  const found = [...siteFaults(sent, terms), ...(maker ? rightsBeyond(sent, maker) : [])]
  refuseFaults(inDocumentOrder([...faults, ...withoutDuplicates(found, faults), ...meaningFaults(sent, terms)], body))
  const { name, ip_allow = maker?.key.ip_allow, rate_limit = maker?.key.rate_limit ?? null } = sent
  const usual = terms.now + terms.life.default * DAY_MS
  const expires_at = sent.expires_at === undefined ? Math.min(usual, maker?.key.expires_at ?? usual) : endOf(sent.expires_at)
  const personal = maker ? maker.key.owner_user_id !== null : (sent.personal ?? false)
  // The fields are present, because no fault was found.
  return { name: name!, scopes: scopesOf(sent), site_ids: sitesOf(sent), ip_allow: ip_allow ?? [], rate_limit, expires_at, personal }
}

/** Applies a merge patch to an API key. Throws `validation_failed` with all faults at once. */
export function patchKey(key: ApiKey, body: unknown, terms: KeyTerms): KeyFields & { version: number | undefined } {
  const { fields, faults } = inspect(KeyPatch, body)
  const { version, ...rest } = fields as Sent & { version?: number }
  const current: Sent = key.site_ids === null ? { site_access: "all" } : { site_access: "list", site_ids: [...key.site_ids] }
  // A change to `all` discards the previous list of sites.
  const sites: Sent = rest.site_access === "all" ? rest : { ...current, ...rest }
  refuseFaults(inDocumentOrder([...faults, ...withoutDuplicates(siteFaults(sites, terms), faults), ...meaningFaults(rest, terms)], body))
  return {
    name: rest.name ?? key.name,
    scopes: rest.scopes ? scopesOf(rest) : key.scopes,
    site_ids: sitesOf(sites),
    ip_allow: rest.ip_allow === undefined ? key.ip_allow : (rest.ip_allow ?? []),
    rate_limit: rest.rate_limit === undefined ? key.rate_limit : rest.rate_limit,
    // Responses show the time in whole seconds, so the same second means no change.
    expires_at: rest.expires_at === undefined || isShown(rest.expires_at, key) ? key.expires_at : endOf(rest.expires_at),
    version,
  }
}

/** Removes faults of fields that have another fault already: a malformed list is not missing. */
const withoutDuplicates = (found: readonly Fault[], known: readonly Fault[]): Fault[] =>
  found.filter(({ pointer }) => !known.some((fault) => fault.pointer.startsWith(pointer)))

const isShown = (text: string | null, { expires_at }: ApiKey): boolean =>
  text === null ? expires_at === null : expires_at !== null && text === instantText(expires_at)

const endOf = (text: string | null): number | null => (text === null ? null : parseInstant(text)!) // validated before

const scopesOf = ({ scopes = [] }: Sent) => SCOPES.filter((scope) => scopes.includes(scope))

const sitesOf = ({ site_access, site_ids }: Sent) => (site_access === "all" ? null : (site_ids ?? []))

function siteFaults({ site_access, site_ids }: Sent, { ownSites }: KeyTerms): Fault[] {
  if (site_access === "all") return site_ids?.length ? [fault("/site_ids", "invalid_choice", "is only allowed with site_access list")] : []
  if (site_access === "list" && !site_ids) return [fault("/site_ids", "required", "is required with site_access list")]
  return (site_ids ?? []).flatMap((id, i) =>
    ownSites.has(id) ? [] : [fault(`/site_ids/${i}`, "invalid_choice", "must be a site of the organization")],
  )
}

function meaningFaults({ scopes = [], ip_allow, expires_at }: Sent, { now, life, isRange }: KeyTerms): Fault[] {
  const scopeNames: readonly unknown[] = SCOPES
  const found = scopes.flatMap((scope, i) =>
    scopeNames.includes(scope) ? [] : [fault(`/scopes/${i}`, "invalid_choice", `must be one of ${SCOPES.join(", ")}`, SCOPES)],
  )
  ;(ip_allow ?? []).forEach((range, i) => {
    if (!isRange(range))
      found.push(fault(`/ip_allow/${i}`, "invalid_choice", "must be an IP address or a CIDR range such as 203.0.113.0/24"))
  })
  return expires_at === undefined ? found : [...found, ...endFaults(expires_at, now, life.maximum)]
}

function endFaults(expires_at: string | null, now: number, maxDays: number | null): Fault[] {
  const at = "/expires_at"
  if (expires_at === null) return maxDays === null ? [] : [fault(at, "expiry_required", `must be set, at most ${maxDays} days from now`)]
  const end = parseInstant(expires_at)
  if (end === undefined) return [fault(at, "invalid_date", "must be an RFC 3339 time such as 2027-01-31T12:00:00Z")]
  if (end <= now) return [fault(at, "out_of_range", "must be in the future")]
  return maxDays !== null && end > now + maxDays * DAY_MS ? [fault(at, "out_of_range", `must be at most ${maxDays} days from now`)] : []
}
