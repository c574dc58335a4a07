import { type Static, Type as t } from "@sinclair/typebox"
import type { Dimension } from "./dimension.ts"
import { AppError, type Fault } from "./error.ts"
import { THINGS } from "./limits.ts"
import { parseInstant } from "./moment.ts"
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

/** The writable fields of a shared view of a site. */
export const ShareInput = t.Object(
  {
    name: t.String({ minLength: 1, maxLength: THINGS.siteNameChars, description: "Name of the shared view." }),
    password: t.Optional(
      t.Union([t.String({ minLength: THINGS.sharePassword.min, maxLength: THINGS.sharePassword.max }), t.Null()], {
        description: "Password that viewers must enter. null means no password. Write-only.",
      }),
    ),
    expires_at: t.Optional(
      t.Union([t.String({ minLength: 1 }), t.Null()], { description: "Expiry time (RFC 3339). null means never. Default: null." }),
    ),
    locked_filters: t.Optional(t.Array(t.Unknown(), { description: "Filters that are always applied. Viewers cannot remove them." })),
    sections: t.Optional(
      t.Array(t.Union(SECTIONS.map((section) => t.Literal(section))), {
        minItems: 1,
        uniqueItems: true,
        description: "Visible sections. Default: all except revenue.",
      }),
    ),
    allow_range: t.Optional(t.Boolean({ description: "Whether viewers can change the period." })),
    allow_filters: t.Optional(t.Boolean({ description: "Whether viewers can add filters." })),
    allow_export: t.Optional(t.Boolean({ description: "Whether viewers can export data." })),
    embed_origins: t.Optional(
      t.Array(t.String(), {
        maxItems: THINGS.shareOrigins,
        uniqueItems: true,
        description: "Origins (https) of the pages that can embed the shared view.",
      }),
    ),
  },
  { additionalProperties: false, title: "ShareInput" },
)
export type ShareInput = Static<typeof ShareInput>

/** The writable fields of a shared view, without its password. */
export interface ShareFields {
  name: string
  expires_at: number | null
  locked_filters: readonly SavedFilter[]
  sections: readonly Section[]
  allow_range: boolean
  allow_filters: boolean
  allow_export: boolean
  embed_origins: readonly string[]
}

/** A stored shared view. Times are epoch milliseconds. */
export interface Share extends ShareFields, Versioned {
  id: number
  site_id: number
  has_password: boolean
  /** Number of the password. A new password invalidates everything unlocked by an older one. */
  password_version: number
  /** Whether the site's setting `public` created this shared view. */
  is_public: boolean
  created_by: number | null
  created_at: number
  updated_at: number
}

export const ShareResponse = t.Object(
  {
    id: field.id("Id of the shared view."),
    site_id: field.id("Id of the site."),
    name: t.String({ description: "Display name." }),
    slug: t.String({ description: "Last part of the URL. Anyone who knows it can open the shared view." }),
    url: t.String({ description: "URL of the shared view." }),
    has_password: t.Boolean({ description: "Whether viewers must enter a password." }),
    expires_at: orNull(Instant, { description: "Expiry time. null means never." }),
    locked_filters: t.Array(anyOf<SavedFilter>(), { description: "Filters that are always applied. Viewers cannot remove them." }),
    sections: t.Array(textOf<Section>(), { description: "Visible sections." }),
    allow_range: t.Boolean({ description: "Whether viewers can change the period." }),
    allow_filters: t.Boolean({ description: "Whether viewers can add filters." }),
    allow_export: t.Boolean({ description: "Whether viewers can export data." }),
    embed_origins: t.Array(t.String(), { description: "Origins (https) of the pages that can embed the shared view." }),
    is_public: t.Boolean({ description: "Whether the setting for a public dashboard created the view." }),
    created_at: CREATED_AT,
    updated_at: UPDATED_AT,
    version: t.Integer({ description: "Version of the shared view, which increases with each change." }),
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

/** Returns the faults that the schema cannot express. */
export function shareFaults({ expires_at, embed_origins = [] }: Partial<ShareInput>, now: number): Fault[] {
  const at = typeof expires_at === "string" ? parseInstant(expires_at) : undefined
  const time =
    typeof expires_at !== "string" || (at !== undefined && at > now)
      ? []
      : [fault("/expires_at", at === undefined ? "invalid_date" : "out_of_range", "must be an RFC 3339 time in the future")]
  const origins = embed_origins.flatMap((origin, i) =>
    isOrigin(origin) ? [] : [fault(`/embed_origins/${i}`, "invalid_url", "must be an origin such as https://www.example.com")],
  )
  return [...time, ...origins]
}

const isOrigin = (text: string): boolean => {
  const url = URL.parse(text)
  return url !== null && url.protocol === "https:" && url.origin === text && !text.includes("*")
}
