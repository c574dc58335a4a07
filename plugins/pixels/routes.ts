import { type TSchema, Type as t } from "@sinclair/typebox"
import { ArgumentReader, etagOf, NoQuery, Paged, readNothing, refuseArguments, Sent, type Site, versionsIn } from "#plugin"
import type { Editing } from "./editing.ts"
import { PixelInput, PixelPatch } from "./input.ts"
import { type PixelLists, SORTS, STATES } from "./lists.ts"
import { KINDS, type Pixel, type PixelsHost } from "./pixel.ts"
import { type Caller, DIMENSIONS, MOST_ROWS, type Reports } from "./reports.ts"
import { Count, PixelListed, PixelShown, ROUTE_COUNTS, type shownPixel } from "./shown.ts"
import { FORMATS, snippetOf } from "./snippets.ts"

interface RouteParts {
  editing: Editing
  reports: Reports
  list: PixelLists
  urlOf(pixel: Pixel): string
  show(pixel: Pixel): ReturnType<typeof shownPixel>
}

/** A query parameter as the documents show it; its reader judges it, so that all that is wrong is said at once. */
const parameter = (schema: object): TSchema => t.Optional(t.String({ "x-parameter": schema }))
const word = (description: string) => parameter({ type: "string", description })
const choice = (names: readonly string[]) => parameter({ type: "string", enum: names })
const number = (minimum: number, maximum: number) => parameter({ type: "integer", minimum, maximum })
const query = (parameters: Record<string, TSchema>) => t.Object(parameters, { additionalProperties: true })

const RANGE = {
  period: word("Period, such as `today`, `7d`, `30d`, `12mo` or `all`. Default: `30d`, unless `from` and `to` are set."),
  from: word("First day of the range, as YYYY-MM-DD."),
  to: word("Last day of the range, as YYYY-MM-DD."),
  timezone: word("IANA time zone. Default: the time zone of the site."),
  filters: word("Filters, as a JSON string."),
}
const COMPARED = {
  compare: choice(["none", "previous_period", "previous_year", "custom"]),
  compare_from: word("First day of a custom comparison, as YYYY-MM-DD."),
  compare_to: word("Last day of a custom comparison, as YYYY-MM-DD."),
  match_weekday: parameter({ type: "boolean" }),
}
const PAGE = { limit: number(1, 200), cursor: word("Cursor of the page, from `next_cursor`."), count: choice(["true", "false"]) }
const LIST = {
  ...PAGE,
  q: word("Text that the name or the slug contains."),
  kind: choice(KINDS),
  state: choice(STATES),
  sort: choice(SORTS),
}

const Facts = {
  meta: t.Object({
    range: t.Object({}, { additionalProperties: true }),
    visitor_window: t.Optional(t.String()),
    notes: t.Array(t.String()),
  }),
}
const Range = t.Object({}, { additionalProperties: true })
const Totals = { opens_total: Count, ...ROUTE_COUNTS }
const Stats = t.Object(
  {
    ...Totals,
    unique_est: Count,
    comparison: t.Optional(t.Object({ range: Range, ...Totals, unique_est: t.Optional(Count) })),
    ...Facts,
  },
  { title: "PixelStats" },
)
const Points = t.Array(t.Object({ time: t.String(), partial: t.Optional(t.Boolean()), ...Totals }))
const Timeseries = t.Object(
  { interval: t.String(), points: Points, comparison: t.Optional(t.Object({ range: Range, points: Points })), ...Facts },
  { title: "PixelTimeseries" },
)
const Breakdown = t.Object(
  {
    dimension: t.String(),
    rows: t.Array(t.Object({ value: t.String(), label: t.Optional(t.String()), opens: Count })),
    total_rows: Count,
    has_more: t.Boolean(),
    ...Facts,
  },
  { title: "PixelBreakdown" },
)
const Snippet = t.Object({ format: t.String(), snippet: t.String(), url: t.String() }, { title: "PixelSnippet" })

const says = (summary: string, takes?: TSchema) => ({
  summary,
  tags: ["pixels"],
  ...(takes && { requestBody: { required: true, content: { "application/json": { schema: takes } } } }),
})
const refuses = (...codes: string[]) => ({ "x-failures": codes })

/** Pixels of a site, for people. */
export function memberRoutes(host: PixelsHost, { editing, reports, list, urlOf, show }: RouteParts) {
  const finding = async ({ id }: Record<string, string | undefined>, { site }: { site?: Site }): Promise<void> =>
    void (await editing.get(site!, id)) // a route of a site has one
  const findingDeleted = async ({ id }: Record<string, string | undefined>, { site }: { site?: Site }): Promise<void> =>
    void (await editing.getDeleted(site!, id)) // the same
  const read = { permission: "pixels:read", find: finding }
  const write = { permission: "pixels:write", find: finding }
  const tagged = ({ headers }: { headers: Record<string, unknown> }, pixel: Pixel) => {
    headers.etag = etagOf(pixel)
    return show(pixel)
  }

  return host
    .siteRouter()
    .get("/pixels", ({ site, query, ...looking }) => list(site, query, callerOf(looking)), {
      can: "pixels:read",
      query: query(LIST),
      response: { 200: Paged(PixelListed) },
      detail: { ...says("List tracking pixels"), ...refuses("query_timeout") },
    })
    .post(
      "/pixels",
      ({ site, actor, ...call }) =>
        host.create(
          call,
          (body, kept) =>
            editing.create(site, body, { actor, userId: call.user.id }, (statements, pixel) => kept(statements, { after: pixel })),
          (pixel: Pixel) => ({ location: `/api/private/sites/${site.id}/pixels/${pixel.id}`, etag: etagOf(pixel), body: show(pixel) }),
        ),
      {
        can: "pixels:write",
        query: NoQuery,
        body: Sent,
        response: { 201: PixelShown },
        detail: {
          ...says("Create a tracking pixel", PixelInput),
          ...refuses("invalid_slug", "slug_reserved", "slug_taken", "slug_recently_used", "limit_reached"),
        },
      },
    )
    .get("/pixels/:id", async ({ site, params, set }) => tagged(set, await editing.get(site, params.id)), {
      can: read,
      query: NoQuery,
      response: { 200: PixelShown },
      detail: { ...says("Get a tracking pixel"), ...refuses("pixel_not_found") },
    })
    .patch(
      "/pixels/:id",
      async ({ site, params, actor, body, request, set }) =>
        tagged(set, await editing.update(site, params.id, body.value, { actor, expected: versionsIn(request.headers.get("if-match")) })),
      {
        can: write,
        query: NoQuery,
        body: Sent,
        response: { 200: PixelShown },
        detail: {
          ...says("Update or archive a tracking pixel", PixelPatch),
          ...refuses(
            ...["pixel_not_found", "version_conflict", "precondition_failed"],
            ...["invalid_slug", "slug_reserved", "slug_taken", "slug_recently_used"],
          ),
        },
      },
    )
    .delete(
      "/pixels/:id",
      async ({ site, params, actor, request, status }) => {
        await editing.remove(site, params.id, { actor, expected: versionsIn(request.headers.get("if-match")) })
        return status(204, undefined)
      },
      {
        can: { ...write, read: readNothing },
        query: NoQuery,
        detail: {
          ...says("Delete a tracking pixel, which can be restored for 30 days"),
          ...refuses("pixel_not_found", "precondition_failed"),
        },
      },
    )
    .post("/pixels/:id/restore", async ({ site, params, actor, set }) => tagged(set, await editing.restore(site, params.id, actor)), {
      can: { permission: "pixels:write", find: findingDeleted, read: readNothing },
      query: NoQuery,
      response: { 200: PixelShown },
      detail: { ...says("Restore a deleted tracking pixel"), ...refuses("pixel_not_found", "slug_taken", "limit_reached") },
    })
    .get(
      "/pixels/:id/stats",
      async ({ site, params, query, ...looking }) => reports.stats(site, await editing.get(site, params.id), query, callerOf(looking)),
      {
        can: read,
        query: query({ ...RANGE, ...COMPARED }),
        response: { 200: Stats },
        detail: { ...says("Get the opens of a pixel by route"), ...refuses("pixel_not_found", "query_timeout") },
      },
    )
    .get(
      "/pixels/:id/timeseries",
      async ({ site, params, query, ...looking }) => reports.timeseries(site, await editing.get(site, params.id), query, callerOf(looking)),
      {
        can: read,
        query: query({ ...RANGE, ...COMPARED, interval: choice(["auto", "hour", "day", "week", "month"]) }),
        response: { 200: Timeseries },
        detail: { ...says("Get the opens of a pixel over time"), ...refuses("pixel_not_found", "query_timeout") },
      },
    )
    .get(
      "/pixels/:id/breakdown",
      async ({ site, params, query, ...looking }) => reports.breakdown(site, await editing.get(site, params.id), query, callerOf(looking)),
      {
        can: read,
        query: query({
          dimension: word(`${DIMENSIONS.join(", ")} or param:<name>. Default: via.`),
          ...RANGE,
          order: choice(["desc", "asc"]),
          limit: number(1, MOST_ROWS),
          offset: number(0, 10_000),
        }),
        response: { 200: Breakdown },
        detail: { ...says("Get the opens of a pixel by dimension"), ...refuses("pixel_not_found", "query_timeout") },
      },
    )
    .get(
      "/pixels/:id/snippet",
      async ({ site, params, query }) => {
        const format = readFormat(query)
        const pixel = await editing.get(site, params.id)
        const url = urlOf(pixel)
        return { format, snippet: snippetOf(format, url, pixel), url }
      },
      {
        can: read,
        query: query({ format: choice(FORMATS) }),
        response: { 200: Snippet },
        detail: { ...says("Get the snippet of a pixel"), ...refuses("pixel_not_found") },
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
