import { type Static, Type as t } from "@sinclair/typebox"
import type { Dimension } from "./dimension.ts"
import { AppError, type Fault } from "./error.ts"
import { THINGS } from "./limits.ts"
import { parseInstant } from "./moment.ts"
import type { KeptFilter } from "./segment.ts"
import { fault } from "./shape.ts"
import type { Versioned } from "./version.ts"

/** Whether what is shared may be open to everybody who has the link; each is stricter than the one before. */
export const PUBLIC_LINKS = ["allowed", "password_required", "off"] as const
export type PublicLinks = (typeof PUBLIC_LINKS)[number]

/** What holds where two of them meet. */
export const strictestLinks = (left: PublicLinks, right: PublicLinks): PublicLinks =>
  PUBLIC_LINKS[Math.max(PUBLIC_LINKS.indexOf(left), PUBLIC_LINKS.indexOf(right))]! // one of the two

/** Parts of a site's page that a shared view may show. */
const SECTIONS = ["summary", "sources", "pages", "locations", "devices", "events", "goals", "busy_hours", "realtime", "revenue"] as const
export type Section = (typeof SECTIONS)[number]

/** What is shown unless something is chosen: everything but money. */
export const USUAL_SECTIONS: readonly Section[] = SECTIONS.filter((section) => section !== "revenue")

/** Which part of the page a dimension belongs to. */
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
/** Undefined for what is no dimension. */
export const sectionOf = (dimension: unknown): Section | undefined =>
  typeof dimension === "string" && Object.hasOwn(SECTION_OF, dimension) ? SECTION_OF[dimension as Dimension] : undefined

/** What a caller may send of a shared view of a site. */
export const ShareInput = t.Object(
  {
    name: t.String({ minLength: 1, maxLength: THINGS.siteNameChars }),
    password: t.Optional(t.Union([t.String({ minLength: THINGS.sharePassword.min, maxLength: THINGS.sharePassword.max }), t.Null()])),
    expires_at: t.Optional(t.Union([t.String({ minLength: 1, description: "RFC 3339" }), t.Null()])),
    locked_filters: t.Optional(t.Array(t.Unknown(), { description: "Hold in every answer, whatever the viewer asks" })),
    sections: t.Optional(t.Array(t.Union(SECTIONS.map((section) => t.Literal(section))), { minItems: 1, uniqueItems: true })),
    allow_range: t.Optional(t.Boolean()),
    allow_filters: t.Optional(t.Boolean()),
    allow_export: t.Optional(t.Boolean()),
    embed_origins: t.Optional(t.Array(t.String(), { maxItems: THINGS.shareOrigins, uniqueItems: true, description: "https origins" })),
  },
  { additionalProperties: false, title: "ShareInput" },
)
export type ShareInput = Static<typeof ShareInput>

/** What of a shared view a caller decides, without its password. */
export interface ShareFields {
  name: string
  expires_at: number | null
  locked_filters: readonly KeptFilter[]
  sections: readonly Section[]
  allow_range: boolean
  allow_filters: boolean
  allow_export: boolean
  embed_origins: readonly string[]
}

/** Times are epoch milliseconds. */
export interface Share extends ShareFields, Versioned {
  id: number
  site_id: number
  has_password: boolean
  /** Counts the passwords: what was unlocked by an older one is locked again. */
  password_version: number
  /** The one that the site's setting `public` makes. */
  is_public: boolean
  created_by: number | null
  created_at: number
  updated_at: number
}

export const shareNotFound = () => new AppError("share_not_found", "The site has no shared view with this id")

/** What is wrong beyond the form. */
export function shareFaults({ expires_at, embed_origins = [] }: Partial<ShareInput>, now: number): Fault[] {
  const at = typeof expires_at === "string" ? parseInstant(expires_at) : undefined
  const time =
    typeof expires_at !== "string" || (at !== undefined && at > now)
      ? []
      : [fault("/expires_at", at === undefined ? "invalid_date" : "out_of_range", "must be an instant that is still to come")]
  const origins = embed_origins.flatMap((origin, i) =>
    isOrigin(origin) ? [] : [fault(`/embed_origins/${i}`, "invalid_url", "must be an origin such as https://www.example.com")],
  )
  return [...time, ...origins]
}

const isOrigin = (text: string): boolean => {
  const url = URL.parse(text)
  return url !== null && url.protocol === "https:" && url.origin === text && !text.includes("*")
}
