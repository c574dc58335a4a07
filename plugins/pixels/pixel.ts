import type { Static } from "@sinclair/typebox"
import type { Host } from "#plugin"
import type { Settings } from "./settings.ts"

export type PixelsHost = Host<Static<typeof Settings>>

export const KINDS = ["email", "rss", "readme", "page"] as const
export type PixelKind = (typeof KINDS)[number]
export const RECIPIENT_MODES = ["none", "hashed"] as const
export type RecipientMode = (typeof RECIPIENT_MODES)[number]

/** What people decide about a pixel. */
export interface PixelFields {
  slug: string
  name: string
  kind: PixelKind
  /** Names of parameters that are kept of a request. */
  allowed_params: readonly string[]
  recipient_mode: RecipientMode
  /** Whether the badge tells the opens to everybody. */
  badge_public: boolean
}

/** Instants in epoch ms. */
export interface Pixel extends PixelFields {
  id: number
  site_id: number
  /** Over its whole life, as far as the opens are folded. Bots are in neither. */
  opens_total: number
  opens_direct: number
  last_open_at: number | null
  /** Up to which record its opens are in the three above. */
  counted_to: number
  archived_at: number | null
  created_by: number | null
  version: number
  created_at: number
  updated_at: number
  deleted_at: number | null
}

const DAY_MS = 86_400_000

export const LIMITS = {
  pixels: 1_000,
  nameChars: 100,
  params: 5,
  valueChars: 100,
  recipientChars: 1_000,
  generatedChars: 10,
  restoreMs: 30 * DAY_MS,
  orphanDays: 365,
  /** How far counters may be behind the opens. */
  foldMs: 15_000,
} as const

/** What a pixel is until somebody says otherwise. */
export const USUAL: Pick<PixelFields, "allowed_params" | "recipient_mode" | "badge_public"> = {
  allowed_params: [],
  recipient_mode: "none",
  badge_public: false,
}

/** As a property of an open, apart from our own ones. */
export const paramKey = (name: string): string => `param:${name}`
export const OPEN_EVENT = "pixel_open"
