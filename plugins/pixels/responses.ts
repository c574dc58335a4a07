/** Responses of the area's routes. The dashboard takes its types from here as well. */
import { type Static, Type as t } from "@sinclair/typebox"
import { Instant, instantOrNull, instantText, orNull } from "#plugin"
import { oneOf } from "./input.ts"
import { KINDS, type Pixel, RECIPIENT_MODES } from "./pixel.ts"

const Count = t.Integer({ minimum: 0 })

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
export const PixelResponse = t.Object(FIELDS, { title: "TrackingPixel" })
export type PixelResponse = Static<typeof PixelResponse>

export const RECENT_DAYS = 30
const ROUTE_COUNTS = { opens_direct: Count, opens_proxied: Count, opens_prefetched: Count, bots: Count }
/** A pixel in a list, with its opens by route over the last days. */
export const ListedPixelResponse = t.Object(
  { ...FIELDS, recent: t.Object({ days: Count, ...ROUTE_COUNTS }) },
  { title: "ListedTrackingPixel" },
)
export type ListedPixelResponse = Static<typeof ListedPixelResponse>

const Facts = {
  meta: t.Object({
    range: t.Object({}, { additionalProperties: true }),
    visitor_window: t.Optional(t.String()),
    notes: t.Array(t.String()),
  }),
}
const Range = t.Object({}, { additionalProperties: true })
const Totals = { opens_total: Count, ...ROUTE_COUNTS }
export const StatsResponse = t.Object(
  {
    ...Totals,
    unique_est: Count,
    comparison: t.Optional(t.Object({ range: Range, ...Totals, unique_est: t.Optional(Count) })),
    ...Facts,
  },
  { title: "PixelStats" },
)
export type StatsResponse = Static<typeof StatsResponse>
const Points = t.Array(t.Object({ time: t.String(), partial: t.Optional(t.Boolean()), ...Totals }))
export const TimeseriesResponse = t.Object(
  { interval: t.String(), points: Points, comparison: t.Optional(t.Object({ range: Range, points: Points })), ...Facts },
  { title: "PixelTimeseries" },
)
export const BreakdownResponse = t.Object(
  {
    dimension: t.String(),
    rows: t.Array(t.Object({ value: t.String(), label: t.Optional(t.String()), opens: Count })),
    total_rows: Count,
    has_more: t.Boolean(),
    ...Facts,
  },
  { title: "PixelBreakdown" },
)
export const SnippetResponse = t.Object({ format: t.String(), snippet: t.String(), url: t.String() }, { title: "PixelSnippet" })
export type SnippetResponse = Static<typeof SnippetResponse>

export const formatPixel = (url: string, pixel: Pixel): PixelResponse => ({
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
