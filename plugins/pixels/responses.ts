/** Responses of the area's routes. The dashboard takes its types from here as well. */
import { type Static, Type as t } from "@sinclair/typebox"
import { CREATED_AT, field, instantOrNull, instantText, orNull, UPDATED_AT } from "#plugin"
import { oneOf } from "./input.ts"
import { KINDS, type Pixel, RECIPIENT_MODES } from "./pixel.ts"

const count = (description: string) => t.Integer({ minimum: 0, description })

const FIELDS = {
  id: field.id("Id of the pixel."),
  name: field.text("Display name."),
  kind: oneOf(KINDS, "Place of the pixel: `email`, `rss`, `readme` or `page`."),
  slug: field.text("Last part of the image URL, without extension."),
  url: field.text("URL of the image."),
  allowed_params: field.texts("Names of the query parameters whose values are stored."),
  recipient_mode: oneOf(RECIPIENT_MODES, "`hashed` stores a keyed hash of the parameter `r`, `none` ignores it."),
  badge_public: field.flag("Whether the badge shows the number of opens."),
  archived: field.flag("Whether the pixel is archived. Opens of an archived pixel are not counted."),
  archived_at: orNull(field.instant("Time at which the pixel was archived. null if it is not.")),
  opens_total: t.Integer({ minimum: 0, description: "Opens over all time without bots, at most about 15 seconds behind." }),
  opens_direct: count("Direct opens over all time, at most about 15 seconds behind."),
  last_open_at: orNull(field.instant("Time of the latest open. null before the first.")),
  created_by: orNull(field.integer("Id of the user who created the pixel. null when the user was deleted.")),
  version: field.id("Version of the pixel, which increases with each change."),
  created_at: CREATED_AT,
  updated_at: UPDATED_AT,
}
export const PixelResponse = t.Object(FIELDS, { title: "TrackingPixel" })
export type PixelResponse = Static<typeof PixelResponse>

export const RECENT_DAYS = 30
const ROUTE_COUNTS = {
  opens_direct: count("Number of direct opens."),
  opens_proxied: count("Number of opens through an image proxy of GitHub, Gmail or Yahoo."),
  opens_prefetched: count("Number of images that Apple Mail or a scanner of a mail gateway loaded in advance."),
  bots: count("Number of requests by bots, which are not opens."),
}
/** A pixel in a list, with its opens by route over the last days. */
export const ListedPixelResponse = t.Object(
  {
    ...FIELDS,
    recent: t.Object({ days: count("Number of days."), ...ROUTE_COUNTS }, { description: "Opens of the last days by route." }),
  },
  { title: "ListedTrackingPixel" },
)
export type ListedPixelResponse = Static<typeof ListedPixelResponse>

const Facts = {
  meta: t.Object(
    {
      range: t.Object({}, { additionalProperties: true, description: "Resolved range of the report." }),
      visitor_window: t.Optional(t.String({ description: "Period within which a visitor is counted once." })),
      notes: field.texts("Notes on the result, in English."),
    },
    { description: "Facts about the report." },
  ),
}
const Range = t.Object({}, { additionalProperties: true, description: "Compared range." })
const Totals = { opens_total: count("Number of opens without bots."), ...ROUTE_COUNTS }
const UNIQUE = count("Estimated number of readers: recipients if they are hashed, otherwise visitors of direct opens.")
const COMPARISON = { description: "Opens in the compared range. Present only with `compare`." }
export const StatsResponse = t.Object(
  {
    ...Totals,
    unique_est: UNIQUE,
    comparison: t.Optional(t.Object({ range: Range, ...Totals, unique_est: t.Optional(UNIQUE) }, COMPARISON)),
    ...Facts,
  },
  { title: "PixelStats" },
)
export type StatsResponse = Static<typeof StatsResponse>
const Points = t.Array(
  t.Object({
    time: field.text("Start of the bucket."),
    partial: t.Optional(field.flag("Whether the bucket is still running or cut off by the range. Absent if not.")),
    ...Totals,
  }),
  { description: "Opens per bucket, oldest first." },
)
export const TimeseriesResponse = t.Object(
  {
    interval: field.text("Length of the buckets, such as `day`."),
    points: Points,
    comparison: t.Optional(t.Object({ range: Range, points: Points }, COMPARISON)),
    ...Facts,
  },
  { title: "PixelTimeseries" },
)
export const BreakdownResponse = t.Object(
  {
    dimension: field.text("Dimension of the rows."),
    rows: t.Array(
      t.Object({
        value: field.text("Value of the dimension. `(none)` stands for a missing value."),
        label: t.Optional(field.text("Readable name of a value that is a code, such as a country. Absent for other values.")),
        opens: count("Number of opens."),
      }),
      { description: "Rows of the page, most frequent first." },
    ),
    total_rows: count("Number of all rows."),
    has_more: field.flag("Whether more rows follow."),
    ...Facts,
  },
  { title: "PixelBreakdown" },
)
export const SnippetResponse = t.Object(
  {
    format: field.text("Format: `html`, `markdown`, `rst` or `bbcode`."),
    snippet: field.text("Text to insert where opens are to be counted."),
    url: field.text("URL of the image."),
  },
  { title: "PixelSnippet" },
)
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
