import { type Static, type TObject, Type as t } from "@sinclair/typebox"
import type { Dimension } from "./dimension.ts"
import { AppError, type Fault } from "./error.ts"
import { THINGS } from "./limits.ts"
import { instantOrNull, instantText, parseInstant } from "./moment.ts"
import { anyOf, CREATED_AT, field, Instant, orNull, textOf, UPDATED_AT } from "./response.ts"
import type { SavedFilter } from "./segment.ts"
import { fault } from "./shape.ts"
import type { Versioned } from "./version.ts"

/** The policies for public links, each stricter than the one before. */
export const PUBLIC_LINKS = ["allowed", "password_required", "off"] as const
export type PublicLinks = (typeof PUBLIC_LINKS)[number]

/** Returns the stricter of two policies. */
export const strictestLinks = (left: PublicLinks, right: PublicLinks): PublicLinks =>
  PUBLIC_LINKS[Math.max(PUBLIC_LINKS.indexOf(left), PUBLIC_LINKS.indexOf(right))]! // one of the two

/** The sections of a site's page that a shared view can contain. */
const SECTIONS = ["summary", "sources", "pages", "locations", "devices", "events", "goals", "busy_hours", "realtime", "revenue"] as const
export type Section = (typeof SECTIONS)[number]

/** The sections of a new shared view: all except revenue. */
export const DEFAULT_SECTIONS: readonly Section[] = SECTIONS.filter((section) => section !== "revenue")

/** The section that each dimension belongs to. */
const SECTION_OF: { readonly [dimension in Dimension]: Section } = {
  page: "pages",
  title: "pages",
  entry_page: "pages",
  exit_page: "pages",
  hostname: "pages",
  entry_page_hostname: "pages",
  exit_page_hostname: "pages",
  source: "sources",
  referrer: "sources",
  channel: "sources",
  utm_source: "sources",
  utm_medium: "sources",
  utm_campaign: "sources",
  utm_term: "sources",
  utm_content: "sources",
  click_id_type: "sources",
  country: "locations",
  region: "locations",
  city: "locations",
  language: "locations",
  device: "devices",
  size: "devices",
  browser: "devices",
  browser_version: "devices",
  os: "devices",
  os_version: "devices",
  event: "events",
  property: "events",
  goal: "goals",
}
/** Returns the section of a dimension, or undefined for anything else. */
export const sectionOf = (dimension: unknown): Section | undefined =>
  typeof dimension === "string" && Object.hasOwn(SECTION_OF, dimension) ? SECTION_OF[dimension as Dimension] : undefined

/** The fields in the body of every kind of share. */
export const SHARE_INPUT = {
  name: t.String({ minLength: 1, maxLength: THINGS.siteNameChars, description: "Name of the share." }),
  password: t.Optional(
    t.Union([t.String({ minLength: THINGS.sharePassword.min, maxLength: THINGS.sharePassword.max }), t.Null()], {
      description: "Password that viewers must enter. null means no password. Write-only.",
    }),
  ),
  expires_at: t.Optional(
    t.Union([t.String({ minLength: 1 }), t.Null()], { description: "Expiry time (RFC 3339). null means never. Default: null." }),
  ),
  locked_filters: t.Optional(t.Array(t.Unknown(), { description: "Filters that are always applied. Viewers cannot remove them." })),
  allow_range: t.Optional(t.Boolean({ description: "Whether viewers can change the period. Default: true." })),
  allow_filters: t.Optional(t.Boolean({ description: "Whether viewers can add filters. Default: true." })),
  allow_export: t.Optional(t.Boolean({ description: "Whether viewers can export data. Default: false." })),
  embed_origins: t.Optional(
    t.Array(t.String(), {
      maxItems: THINGS.shareOrigins,
      uniqueItems: true,
      description: "Origins (https) of the pages that can embed the share.",
    }),
  ),
}

/** The writable fields of every kind of share, without the password. */
export interface ShareTerms {
  name: string
  expires_at: number | null
  locked_filters: readonly SavedFilter[]
  allow_range: boolean
  allow_filters: boolean
  allow_export: boolean
  embed_origins: readonly string[]
}

/** The fields of a new share. */
export const DEFAULT_TERMS: Omit<ShareTerms, "name"> = {
  expires_at: null,
  locked_filters: [],
  allow_range: true,
  allow_filters: true,
  allow_export: false,
  embed_origins: [],
}

/** The fields of every kind of share that the server sets. Times are epoch milliseconds. */
export interface ShareState extends Versioned {
  id: number
  has_password: boolean
  /** Number of the password. A new password invalidates everything unlocked by an older one. */
  password_version: number
  created_by: number | null
  created_at: number
  updated_at: number
}

/** A stored share with its secrets, which must not leave the server. */
export interface StoredShare<Share> {
  share: Share
  slugSealed: Uint8Array
  passwordHash: string | null
}

/** What a new share is stored with in addition to its fields. */
export interface NewShare {
  slugHash: Uint8Array
  slugSealed: Uint8Array
  passwordHash: string | null
  createdBy: number | null
  now: number
}

/** The writable fields of a shared view of a site. */
export const ShareInput = t.Object(
  {
    ...SHARE_INPUT,
    sections: t.Optional(
      t.Array(t.Union(SECTIONS.map((section) => t.Literal(section))), {
        minItems: 1,
        uniqueItems: true,
        description: "Visible sections. Default: all except revenue.",
      }),
    ),
  },
  { additionalProperties: false, title: "ShareInput" },
)

/** The writable fields of a shared view, without its password. */
export interface ShareFields extends ShareTerms {
  sections: readonly Section[]
}

/** A stored shared view. */
export interface Share extends ShareFields, ShareState {
  site_id: number
  /** Whether the site's setting `public` created this shared view. */
  is_public: boolean
}

/** The fields of every kind of share in responses to its managers. */
export const SHARE_RESPONSE = {
  name: t.String({ description: "Display name." }),
  slug: t.String({ description: "Last part of the URL. Anyone who knows it can open the share." }),
  url: t.String({ description: "URL of the share." }),
  has_password: t.Boolean({ description: "Whether viewers must enter a password." }),
  expires_at: orNull(Instant, { description: "Expiry time. null means never." }),
  locked_filters: t.Array(anyOf<SavedFilter>(), { description: "Filters that are always applied. Viewers cannot remove them." }),
  allow_range: t.Boolean({ description: "Whether viewers can change the period." }),
  allow_filters: t.Boolean({ description: "Whether viewers can add filters." }),
  allow_export: t.Boolean({ description: "Whether viewers can export data." }),
  embed_origins: t.Array(t.String(), { description: "Origins (https) of the pages that can embed the share." }),
  created_at: CREATED_AT,
  updated_at: UPDATED_AT,
  version: t.Integer({ description: "Version of the share, which increases with each change." }),
}

/** A share of any kind as its managers receive it. */
export type SharedTerms = Static<TObject<typeof SHARE_RESPONSE>> & { id: number }

/** Returns these fields of a share with its slug. */
export const formatShare = (share: ShareTerms & ShareState & { slug: string }, url: string) => ({
  name: share.name,
  slug: share.slug,
  url,
  has_password: share.has_password,
  expires_at: instantOrNull(share.expires_at),
  locked_filters: [...share.locked_filters],
  allow_range: share.allow_range,
  allow_filters: share.allow_filters,
  allow_export: share.allow_export,
  embed_origins: [...share.embed_origins],
  created_at: instantText(share.created_at),
  updated_at: instantText(share.updated_at),
  version: share.version,
})

export const ShareResponse = t.Object(
  {
    id: field.id("Id of the shared view."),
    site_id: field.id("Id of the site."),
    ...SHARE_RESPONSE,
    sections: t.Array(textOf<Section>(), { description: "Visible sections." }),
    is_public: t.Boolean({ description: "Whether the setting for a public dashboard created the view." }),
  },
  { title: "Share" },
)
export type ShareResponse = Static<typeof ShareResponse>

/** A shared view as its page receives it. */
export const OpenShareResponse = t.Object({
  password_required: t.Literal(false),
  name: t.String({ description: "Display name." }),
  site: t.Object({
    name: t.String(),
    timezone: t.String(),
    revenue_currency: t.Optional(t.String({ description: "Present only if the view contains revenue." })),
  }),
  sections: t.Array(textOf<Section>(), { description: "Visible sections." }),
  allow_range: t.Boolean({ description: "Whether viewers can change the period." }),
  allow_filters: t.Boolean({ description: "Whether viewers can add filters." }),
  allow_export: t.Boolean({ description: "Whether viewers can export data." }),
})
export type OpenShareResponse = Static<typeof OpenShareResponse>
/** The response for a shared view. A locked one reveals nothing else. */
export const SharedViewResponse = t.Union([OpenShareResponse, t.Object({ password_required: t.Literal(true) })])
export type SharedViewResponse = Static<typeof SharedViewResponse>

export const shareNotFound = () => new AppError("share_not_found", "This site has no shared view with this id.")

/** The fields of a body that follows the schema. */
export type SentTerms = Partial<Static<TObject<typeof SHARE_INPUT>>>

/** Returns the faults that the schema cannot express. */
export function shareFaults({ expires_at, embed_origins = [] }: SentTerms, now: number): Fault[] {
  const at = typeof expires_at === "string" ? parseInstant(expires_at) : undefined
  const time =
    typeof expires_at !== "string" || (at !== undefined && at > now)
      ? []
      : [fault("/expires_at", at === undefined ? "invalid_date" : "out_of_range", "must be an RFC 3339 time in the future")]
  const origins = embed_origins.flatMap((origin, i) =>
    isOrigin(origin) ? [] : [fault(`/embed_origins/${i}`, "invalid_url", "must be an origin such as https://example.com")],
  )
  return [...time, ...origins]
}

const isOrigin = (text: string): boolean => {
  const url = URL.parse(text)
  return url !== null && url.protocol === "https:" && url.origin === text && !text.includes("*")
}
