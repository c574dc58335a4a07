import type { Static } from "@sinclair/typebox"
import type { Host } from "#plugin"
import type { Settings } from "./settings.ts"

export type LinksHost = Host<Static<typeof Settings>>

export const UTM_KEYS = ["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"] as const
export type Utm = Partial<Record<(typeof UTM_KEYS)[number], string>>
export const STATUSES = [301, 302, 307, 308] as const
export type RedirectStatus = (typeof STATUSES)[number]

/** Condition of a rule. All parts must match; the values of one part are alternatives. */
export interface When {
  device?: readonly string[]
  os?: readonly string[]
  /** Country codes of ISO 3166-1. */
  country?: readonly string[]
  /** Language codes. `de` includes `de-AT`. */
  language?: readonly string[]
  query?: { name: string; value?: string }
  /** Days in the time zone of the site, both included, or instants. */
  date?: { from?: string; to?: string }
}
export interface Rule {
  when: When
  destination: string
}

/** Fields of a link that users set. Instants in epoch ms. */
export interface LinkFields {
  domain_id: number | null
  slug: string
  destination: string
  title: string
  notes: string
  tags: readonly string[]
  redirect_status: RedirectStatus
  forward_query: boolean
  forward_path: boolean
  utm: Utm
  utm_mode: "fill" | "override"
  starts_at: number | null
  expires_at: number | null
  expired_destination: string | null
  max_clicks: number | null
  rules: readonly Rule[]
  noindex: boolean
}

export interface Link extends LinkFields {
  id: number
  site_id: number
  password_hash: string | null
  password_version: number
  archived_at: number | null
  /** Clicks over the whole life of the link, at most about 15 seconds behind. */
  clicks_human: number
  clicks_bot: number
  clicks_qr: number
  last_click_at: number | null
  created_by: number | null
  version: number
  created_at: number
  updated_at: number
  deleted_at: number | null
}

export const LIMITS = {
  links: 10_000,
  domains: 20,
  templates: 200,
  bulkRows: 500,
  importBytes: 2 << 20,
  importRows: 10_000,
  destinationChars: 2_048,
  rules: 20,
  tags: 50,
  orphanSamples: 100,
} as const

/** Default values of a new link. */
export const USUAL: Omit<LinkFields, "slug" | "destination"> = {
  domain_id: null,
  title: "",
  notes: "",
  tags: [],
  redirect_status: 302,
  forward_query: true,
  forward_path: false,
  utm: {},
  utm_mode: "fill",
  starts_at: null,
  expires_at: null,
  expired_destination: null,
  max_clicks: null,
  rules: [],
  noindex: true,
}

/** Returns every URL that a link may redirect to. */
export const destinationsOf = ({ destination, expired_destination, rules }: LinkFields): string[] => [
  destination,
  ...(expired_destination === null ? [] : [expired_destination]),
  ...rules.map((rule) => rule.destination),
]

export const isExpired = ({ expires_at }: Pick<LinkFields, "expires_at">, now: number): boolean => expires_at !== null && expires_at <= now

/** State of a link in lists. */
export type LinkState = "active" | "archived" | "expired"
export function stateOf(link: Link, now: number): LinkState {
  if (link.archived_at !== null) return "archived"
  const isUsedUp = link.max_clicks !== null && link.clicks_human >= link.max_clicks
  return isUsedUp || isExpired(link, now) ? "expired" : "active"
}
