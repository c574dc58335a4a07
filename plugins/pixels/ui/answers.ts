/** What the routes of the area answer, as far as its pages need it, and the questions to them. */
import { areaQueries } from "#plugin/ui"
import type { PixelKind, RecipientMode } from "../pixel.ts"
import type { Route } from "../via.ts"

export interface PixelAnswer {
  id: number
  name: string
  kind: PixelKind
  slug: string
  url: string
  allowed_params: string[]
  recipient_mode: RecipientMode
  badge_public: boolean
  archived: boolean
  /** Over its whole life, without bots. */
  opens_total: number
  opens_direct: number
  last_open_at: string | null
  version: number
  created_at: string
}
export interface PixelListed extends PixelAnswer {
  recent: { days: number } & Record<Route, number>
}

interface Totals extends Record<Route, number> {
  opens_total: number
  unique_est: number
}
export interface PixelStats extends Totals {
  comparison?: Partial<Totals>
  meta: { notes: string[] }
}
export interface PixelBreakdown {
  dimension: string
  rows: { value: string; label?: string; opens: number }[]
  has_more: boolean
  meta: { notes: string[] }
}

export const pixelsPath = (siteId: number): string => `/api/private/sites/${siteId}/pixels`
export const { useSiteQuery, useRefresh } = areaQueries("pixels")
