import {
  ArgumentReader,
  etagOf,
  failures,
  NoQuery,
  operationsOf,
  Paged,
  parameter,
  queryWith,
  readNothing,
  refuseArguments,
  Sent,
  type Site,
  versionsIn,
} from "#plugin"
import { FORMATS, snippetOf } from "./images.ts"
import { PixelInput, PixelPatch } from "./input.ts"
import { KINDS, type Pixel, type PixelsHost } from "./pixel.ts"
import { type PixelList, SORTS, STATES } from "./pixel-list.ts"
import type { PixelWrites } from "./pixel-writes.ts"
import { type Caller, DIMENSIONS, MAX_ROWS, type Reports } from "./reports.ts"
import { BreakdownResponse, ListedPixelResponse, PixelResponse, SnippetResponse, StatsResponse, TimeseriesResponse } from "./responses.ts"

interface RouteParts {
  pixels: PixelWrites
  reports: Reports
  list: PixelList
  urlOf(pixel: Pixel): string
  show(pixel: Pixel): PixelResponse
}

const RANGE = {
  period: parameter.text("Period, such as `today`, `7d`, `30d`, `12mo` or `all`. Default: `30d`, unless `from` and `to` are set."),
  from: parameter.text("First day of the range, as YYYY-MM-DD."),
  to: parameter.text("Last day of the range, as YYYY-MM-DD."),
  timezone: parameter.text("IANA time zone. Default: the time zone of the site."),
  filters: parameter.text("Filters, as a JSON string."),
}
const COMPARED = {
  compare: parameter.choice(["none", "previous_period", "previous_year", "custom"], "Range to compare with. Default: `none`."),
  compare_from: parameter.text("First day of a custom comparison, as YYYY-MM-DD."),
  compare_to: parameter.text("Last day of a custom comparison, as YYYY-MM-DD."),
  match_weekday: parameter.choice(["true", "false"], "Whether the compared range starts on the same weekday. Default: false."),
}
const LIST = {
  q: parameter.text("Text that the name or the slug contains."),
  kind: parameter.choice(KINDS, "Kind of the pixels."),
  state: parameter.choice(STATES, "State of the pixels."),
  sort: parameter.choice(SORTS, "Order of the pixels."),
}

const operation = operationsOf("pixels")

/** Routes for the pixels of a site. */
export function memberRoutes(host: PixelsHost, { pixels, reports, list, urlOf, show }: RouteParts) {
  type Params = Record<string, string | undefined>
  type Get = (site: Site, id: string | undefined) => Promise<unknown>
  /** Returns the check that the pixel in the path exists. It runs before the body is read. */
  const finding =
    (get: Get) =>
    async ({ id }: Params, { site }: { site?: Site }): Promise<void> =>
      void (await get(site!, id)) // all routes are below a site
  const read = { permission: "pixels:read", find: finding(pixels.get) }
  const write = { permission: "pixels:write", find: finding(pixels.get) }
  const tagged = ({ headers }: { headers: Record<string, unknown> }, pixel: Pixel) => {
    headers.etag = etagOf(pixel)
    return show(pixel)
  }

  return host
    .siteRouter()
    .get("/pixels", ({ site, query, ...call }) => list(site, query, callerOf(call)), {
      can: "pixels:read",
      query: queryWith(LIST),
      response: { 200: Paged(ListedPixelResponse) },
      detail: { ...operation("List tracking pixels"), ...failures("query_timeout") },
    })
    .post(
      "/pixels",
      ({ site, actor, ...call }) =>
        host.create(
          call,
          (body, alongside) =>
            pixels.create(site, body, { actor, userId: call.user.id }, (statements, pixel) => alongside(statements, { after: pixel })),
          (pixel: Pixel) => ({ location: `/api/private/sites/${site.id}/pixels/${pixel.id}`, etag: etagOf(pixel), body: show(pixel) }),
        ),
      {
        can: "pixels:write",
        query: NoQuery,
        body: Sent,
        response: { 201: PixelResponse },
        detail: {
          ...operation("Create a tracking pixel", PixelInput),
          ...failures("invalid_slug", "slug_reserved", "slug_taken", "slug_recently_used", "limit_reached"),
        },
      },
    )
    .get("/pixels/:id", async ({ site, params, set }) => tagged(set, await pixels.get(site, params.id)), {
      can: read,
      query: NoQuery,
      response: { 200: PixelResponse },
      detail: { ...operation("Get a tracking pixel"), ...failures("pixel_not_found") },
    })
    .patch(
      "/pixels/:id",
      async ({ site, params, actor, body, request, set }) =>
        tagged(set, await pixels.update(site, params.id, body.value, { actor, expected: versionsIn(request.headers.get("if-match")) })),
      {
        can: write,
        query: NoQuery,
        body: Sent,
        response: { 200: PixelResponse },
        detail: {
          ...operation("Update or archive a tracking pixel", PixelPatch),
          ...failures(
            ...["pixel_not_found", "version_conflict", "precondition_failed"],
            ...["invalid_slug", "slug_reserved", "slug_taken", "slug_recently_used"],
          ),
        },
      },
    )
    .delete(
      "/pixels/:id",
      async ({ site, params, actor, request, status }) => {
        await pixels.remove(site, params.id, { actor, expected: versionsIn(request.headers.get("if-match")) })
        return status(204, undefined)
      },
      {
        can: { ...write, read: readNothing },
        query: NoQuery,
        detail: {
          ...operation("Delete a tracking pixel, which can be restored for 30 days"),
          ...failures("pixel_not_found", "precondition_failed"),
        },
      },
    )
    .post("/pixels/:id/restore", async ({ site, params, actor, set }) => tagged(set, await pixels.restore(site, params.id, actor)), {
      can: { permission: "pixels:write", find: finding(pixels.getDeleted), read: readNothing },
      query: NoQuery,
      response: { 200: PixelResponse },
      detail: { ...operation("Restore a deleted tracking pixel"), ...failures("pixel_not_found", "slug_taken", "limit_reached") },
    })
    .get(
      "/pixels/:id/stats",
      async ({ site, params, query, ...call }) => reports.stats(site, await pixels.get(site, params.id), query, callerOf(call)),
      {
        can: read,
        query: queryWith({ ...RANGE, ...COMPARED }),
        response: { 200: StatsResponse },
        detail: { ...operation("Get the opens of a pixel by route"), ...failures("pixel_not_found", "query_timeout") },
      },
    )
    .get(
      "/pixels/:id/timeseries",
      async ({ site, params, query, ...call }) => reports.timeseries(site, await pixels.get(site, params.id), query, callerOf(call)),
      {
        can: read,
        query: queryWith({
          ...RANGE,
          ...COMPARED,
          interval: parameter.choice(["auto", "hour", "day", "week", "month"], "Size of the buckets. Default: `auto`."),
        }),
        response: { 200: TimeseriesResponse },
        detail: { ...operation("Get the opens of a pixel over time"), ...failures("pixel_not_found", "query_timeout") },
      },
    )
    .get(
      "/pixels/:id/breakdown",
      async ({ site, params, query, ...call }) => reports.breakdown(site, await pixels.get(site, params.id), query, callerOf(call)),
      {
        can: read,
        query: queryWith({
          dimension: parameter.text(`${DIMENSIONS.join(", ")} or param:<name>. Default: via.`),
          ...RANGE,
          order: parameter.choice(["desc", "asc"], "Direction. Default: `desc`."),
          limit: parameter.number(1, MAX_ROWS, "Number of rows."),
          offset: parameter.number(0, 10_000, "Number of rows to skip. Default: 0."),
        }),
        response: { 200: BreakdownResponse },
        detail: { ...operation("Get the opens of a pixel by dimension"), ...failures("pixel_not_found", "query_timeout") },
      },
    )
    .get(
      "/pixels/:id/snippet",
      async ({ site, params, query }) => {
        const format = readFormat(query)
        const pixel = await pixels.get(site, params.id)
        const url = urlOf(pixel)
        return { format, snippet: snippetOf(format, url, pixel), url }
      },
      {
        can: read,
        query: queryWith({ format: parameter.choice(FORMATS, "Form of the snippet. Default: `html`.") }),
        response: { 200: SnippetResponse },
        detail: { ...operation("Get the snippet of a pixel"), ...failures("pixel_not_found") },
      },
    )
}

function readFormat(given: Record<string, unknown>) {
  const reader = new ArgumentReader(given, ["format"])
  const format = reader.choice("format", FORMATS) ?? "html"
  refuseArguments(reader, "text")
  return format
}

const callerOf = ({ request, user }: { request: Request; user: { id: number } }): Caller => ({ signal: request.signal, userId: user.id })
