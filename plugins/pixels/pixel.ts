import type { Static } from "@sinclair/typebox"
import type { Host } from "#plugin"
import type { Settings } from "./settings.ts"

export type PixelsHost = Host<Static<typeof Settings>>

export const KINDS = ["email", "rss", "readme", "page"] as const
export type PixelKind = (typeof KINDS)[number]
export const RECIPIENT_MODES = ["none", "hashed"] as const
export type RecipientMode = (typeof RECIPIENT_MODES)[number]

/** Fields of a pixel that users set. */
export interface PixelFields {
  slug: string
  name: string
  kind: PixelKind
  /** Names of the query parameters whose values are stored. */
  allowed_params: readonly string[]
  recipient_mode: RecipientMode
  /** Whether the badge shows the number of opens. */
  badge_public: boolean
}

/** Instants in epoch ms. */
export interface Pixel extends PixelFields {
  id: number
  site_id: number
  /** Opens over its whole life without bots, at most about 15 seconds behind. */
  opens_total: number
  opens_direct: number
  last_open_at: number | null
  archived_at: number | null
  created_by: number | null
  version: number
  created_at: number
  updated_at: number
  deleted_at: number | null
}

export const LIMITS = {
  pixels: 1_000,
  nameChars: 100,
  params: 5,
  valueChars: 100,
  recipientChars: 1_000,
  generatedChars: 10,
  orphanDays: 365,
} as const

/** Default values of a new pixel. */
export const USUAL: Pick<PixelFields, "allowed_params" | "recipient_mode" | "badge_public"> = {
  allowed_params: [],
  recipient_mode: "none",
  badge_public: false,
}

/** Returns the property of an open that stores a query parameter. The prefix separates it from the plugin's own properties. */
export const paramKey = (name: string): string => `param:${name}`
export const OPEN_EVENT = "pixel_open"
