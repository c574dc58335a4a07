import { Type as t } from "@sinclair/typebox"
import { Instant, instantOrNull, instantText, orNull } from "#plugin"
import { oneOf } from "./input.ts"
import { KINDS, type Pixel, RECIPIENT_MODES } from "./pixel.ts"

export const Count = t.Integer({ minimum: 0 })

const FIELDS = {
  id: t.Integer({ minimum: 1 }),
  name: t.String(),
  kind: oneOf(KINDS),
  slug: t.String(),
  url: t.String(),
  allowed_params: t.Array(t.String()),
  recipient_mode: oneOf(RECIPIENT_MODES),
  badge_public: t.Boolean(),
  archived: t.Boolean(),
  archived_at: orNull(Instant),
  opens_total: t.Integer({ minimum: 0, description: "Opens over all time without bots, at most about 15 seconds behind." }),
  opens_direct: Count,
  last_open_at: orNull(Instant),
  created_by: orNull(t.Integer()),
  version: t.Integer({ minimum: 1 }),
  created_at: Instant,
  updated_at: Instant,
}
export const PixelShown = t.Object(FIELDS, { title: "TrackingPixel" })

export const RECENT_DAYS = 30
export const ROUTE_COUNTS = { opens_direct: Count, opens_proxied: Count, opens_prefetched: Count, bots: Count }
/** A row of the list tells besides on which ways the opens of the last days came. */
export const PixelListed = t.Object({ ...FIELDS, recent: t.Object({ days: Count, ...ROUTE_COUNTS }) }, { title: "ListedTrackingPixel" })

export const shownPixel = (url: string, pixel: Pixel) => ({
  id: pixel.id,
  name: pixel.name,
  kind: pixel.kind,
  slug: pixel.slug,
  url,
  allowed_params: [...pixel.allowed_params],
  recipient_mode: pixel.recipient_mode,
  badge_public: pixel.badge_public,
  archived: pixel.archived_at !== null,
  archived_at: instantOrNull(pixel.archived_at),
  opens_total: pixel.opens_total,
  opens_direct: pixel.opens_direct,
  last_open_at: instantOrNull(pixel.last_open_at),
  created_by: pixel.created_by,
  version: pixel.version,
  created_at: instantText(pixel.created_at),
  updated_at: instantText(pixel.updated_at),
})
