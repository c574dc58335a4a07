import type { Static } from "@sinclair/typebox"
import type { Host, Site } from "#plugin"
import type { Settings } from "./settings.ts"

export type LinksHost = Host<Static<typeof Settings>>

export const UTM_KEYS = ["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"] as const
export type Utm = Partial<Record<(typeof UTM_KEYS)[number], string>>
export const STATUSES = [301, 302, 307, 308] as const
export type RedirectStatus = (typeof STATUSES)[number]

/** All parts must hold; the values inside a part are alternatives. */
export interface When {
  device?: readonly string[]
  os?: readonly string[]
  /** ISO 3166-1. */
  country?: readonly string[]
  /** `de` also stands for `de-AT`. */
  language?: readonly string[]
  query?: { name: string; value?: string }
  /** Days of the site's zone, both included, or instants. */
  date?: { from?: string; to?: string }
}
export interface Rule {
  when: When
  destination: string
}

/** What people decide about a link. Instants in epoch ms. */
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
  /** Over the whole life of the link, as far as the clicks are folded. */
  clicks_human: number
  clicks_bot: number
  clicks_qr: number
  last_click_at: number | null
  /** Up to which record its clicks are in the three above. */
  counted_to: number
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
  restoreMs: 30 * 86_400_000,
  orphanSamples: 100,
  foldMs: 15_000,
} as const

/** What a link is until somebody says otherwise. */
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

/** Every address that a link may send somebody to. */
export const destinationsOf = ({ destination, expired_destination, rules }: LinkFields): string[] => [
  destination,
  ...(expired_destination === null ? [] : [expired_destination]),
  ...rules.map((rule) => rule.destination),
]

export const isExpired = ({ expires_at }: Pick<LinkFields, "expires_at">, now: number): boolean => expires_at !== null && expires_at <= now

/** In which state a list finds it. */
export type LinkState = "active" | "archived" | "expired"
export function stateOf(link: Link, now: number): LinkState {
  if (link.archived_at !== null) return "archived"
  const isUsedUp = link.max_clicks !== null && link.clicks_human >= link.max_clicks
  return isUsedUp || isExpired(link, now) ? "expired" : "active"
}

export type { Site }
