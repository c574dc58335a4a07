/** Responses of the area's routes. The dashboard takes its types from here as well. */
import { type Static, Type as t } from "@sinclair/typebox"
import { Instant, instantOrNull, instantText, orNull } from "#plugin"
import { type Link, type LinkState, type LinksHost, stateOf, type Utm, type When } from "./link.ts"
import type { Cache } from "./serving/cache.ts"

export const Id = t.Integer({ minimum: 1 })
const Count = t.Integer()

export const LinkResponse = t.Object(
  {
    id: Id,
    slug: t.String(),
    domain_id: orNull(Id),
    short_url: t.String(),
    qr_url: t.String(),
    destination: t.String(),
    title: t.String(),
    notes: t.String(),
    tags: t.Array(t.String()),
    redirect_status: t.Integer(),
    forward_query: t.Boolean(),
    forward_path: t.Boolean(),
    utm: t.Unsafe<Utm>(t.Record(t.String(), t.String())),
    utm_mode: t.Unsafe<Link["utm_mode"]>(t.String()),
    starts_at: orNull(Instant),
    expires_at: orNull(Instant),
    expired_destination: orNull(t.String()),
    max_clicks: orNull(t.Integer()),
    has_password: t.Boolean(),
    rules: t.Array(t.Object({ when: t.Unsafe<When>(t.Any()), destination: t.String() })),
    noindex: t.Boolean(),
    state: t.Unsafe<LinkState>(t.String({ description: "`active`, `archived` or `expired`. A link that has not started is active." })),
    archived_at: orNull(Instant),
    clicks: t.Object(
      { total: t.Integer(), human: t.Integer(), bot: t.Integer(), qr: t.Integer() },
      { description: "Clicks over all time, at most about 15 seconds behind." },
    ),
    last_click_at: orNull(Instant),
    created_by: orNull(t.Integer()),
    version: t.Integer(),
    created_at: Instant,
    updated_at: Instant,
  },
  { title: "Link" },
)
export type LinkResponse = Static<typeof LinkResponse>

const Spark = t.Object({ human: t.Array(t.Integer()), bot: t.Array(t.Integer()) })
/** A link in a list, with its clicks per day over the last 30 days; null if they could not be counted. */
export const ListedLinkResponse = t.Object({ ...LinkResponse.properties, sparkline: orNull(Spark) }, { title: "LinkListed" })
export type ListedLinkResponse = Static<typeof ListedLinkResponse>

export const SlugCheckResponse = t.Object({
  available: t.Boolean(),
  reason: t.Optional(t.String({ description: "Error code. Present only for a slug that is not available." })),
  suggestions: t.Optional(t.Array(t.String(), { description: "Similar slugs that are available. Present only with `reason`." })),
})
export type SlugCheckResponse = Static<typeof SlugCheckResponse>

const RowError = t.Object({ code: t.String(), detail: t.String(), errors: t.Optional(t.Any()) })
export const BulkResponse = t.Object(
  { results: t.Array(t.Object({ index: t.Integer(), status: t.String(), id: t.Optional(Id), error: t.Optional(RowError) })) },
  { title: "LinkBulkResult" },
)
export type BulkResponse = Static<typeof BulkResponse>
export const ImportResponse = t.Object(
  {
    format: t.String(),
    dry_run: t.Boolean(),
    counts: t.Object({ ok: t.Integer(), failed: t.Integer() }),
    rows: t.Array(
      t.Object({
        line: t.Integer(),
        status: t.Unsafe<"ok" | "created" | "failed">(t.String()),
        slug: orNull(t.String()),
        destination: t.String(),
        id: t.Optional(Id),
        error: t.Optional(RowError),
      }),
    ),
  },
  { title: "LinkImportResult" },
)
export type ImportResponse = Static<typeof ImportResponse>

export const TemplateResponse = t.Object(
  {
    id: Id,
    name: t.String(),
    fields: t.Unsafe<Utm>(t.Record(t.String(), t.String())),
    required: t.Unsafe<(keyof Utm)[]>(t.Array(t.String())),
    all_sites: t.Boolean(),
    version: t.Integer(),
  },
  { title: "UtmTemplate" },
)
export type TemplateResponse = Static<typeof TemplateResponse>
export const DomainResponse = t.Object(
  {
    id: Id,
    host: t.String(),
    verified_at: orNull(Instant),
    txt_record: orNull(t.String({ description: "TXT record that verifies the host. Null without permission to verify it." })),
    file: orNull(t.Object({ path: t.String(), content: t.String() })),
    root_destination: orNull(t.String()),
    not_found_destination: orNull(t.String()),
    version: t.Integer(),
  },
  { title: "LinkDomain" },
)
export type DomainResponse = Static<typeof DomainResponse>

const Meta = t.Any({ description: "Range of the report, visitor window and notes." })
const Clicks = t.Object({ total: Count, human: Count, bot: Count, unique: Count, qr: Count })
/** Counts that the parameter `metrics` may leave out. */
const CLICK = { human: t.Optional(Count), bot: t.Optional(Count), total: t.Optional(Count), unique: t.Optional(Count) }
export const StatsResponse = t.Object(
  {
    clicks: Clicks,
    bot_reasons: t.Record(t.String(), Count),
    rules: t.Array(t.Object({ rule: Count, human: Count })),
    conversions: t.Optional(t.Array(t.Object({ goal_id: Id, name: t.String(), visits: Count, visitors: Count }))),
    comparison: t.Optional(t.Object({ range: t.Any(), clicks: Clicks, change_percent: t.Record(t.String(), t.Number()) })),
    meta: Meta,
  },
  { title: "LinkStats" },
)
export type StatsResponse = Static<typeof StatsResponse>
const Point = t.Object({ time: t.String(), partial: t.Optional(t.Boolean()), ...CLICK })
export const TimeseriesResponse = t.Object(
  {
    interval: t.String(),
    points: t.Array(Point),
    comparison: t.Optional(t.Object({ range: t.Any(), points: t.Array(Point) })),
    meta: Meta,
  },
  { title: "LinkTimeseries" },
)
export type TimeseriesResponse = Static<typeof TimeseriesResponse>
export const BreakdownResponse = t.Object(
  {
    dimension: t.String(),
    rows: t.Array(t.Object({ value: t.String(), label: t.Optional(t.String()), truncated: t.Optional(t.Boolean()), ...CLICK })),
    total_rows: Count,
    has_more: t.Boolean(),
    meta: Meta,
  },
  { title: "LinkBreakdown" },
)
export type BreakdownResponse = Static<typeof BreakdownResponse>

export const OrphansResponse = t.Object(
  {
    domains: t.Array(t.Object({ day: t.String(), domain_id: t.Integer(), kind: t.String(), path_sample: t.String(), count: Count })),
    instance: t.Array(t.Object({ day: t.String(), kind: t.String(), count: Count })),
  },
  { title: "LinkOrphans" },
)
export type OrphansResponse = Static<typeof OrphansResponse>
export const TrialResponse = t.Object({
  outcome: t.String({ description: "`redirect`, `password`, `expired`, `not_started`, `archived`, `loop` or `unknown`." }),
  rule: t.Optional(t.Integer({ description: "Number of the rule that matched, starting at 1. 0 is the destination of the link." })),
  status: t.Integer(),
  url: t.Union([t.String(), t.Null()]),
  bot_reason: t.Optional(t.String()),
})
export type TrialResponse = Static<typeof TrialResponse>

/** Converts links to responses. */
export interface LinkFormat {
  shortUrl(link: Pick<Link, "slug" | "domain_id">): string
  response(link: Link): LinkResponse
}

export function createLinkFormat(host: LinksHost, cache: Cache, prefix: string): LinkFormat {
  // Link domains are served by the same proxy as the instance.
  const scheme = () => (host.baseUrl().startsWith("https:") ? "https" : "http")
  function shortUrl({ slug, domain_id }: Pick<Link, "slug" | "domain_id">): string {
    const domain = domain_id === null ? undefined : cache.domainById(domain_id)
    return domain ? `${scheme()}://${domain.host}/${slug}` : `${host.baseUrl()}/${prefix}/${slug}`
  }
  return {
    shortUrl,
    response(link) {
      const { site_id, password_hash, clicks_human, clicks_bot, clicks_qr, ...fields } = link
      const { password_version: _, counted_to: __, deleted_at: ___, ...shown } = fields
      return {
        ...shown,
        tags: [...link.tags],
        rules: link.rules.map(({ when, destination }) => ({ when, destination })),
        short_url: shortUrl(link),
        qr_url: `/api/private/sites/${site_id}/links/${link.id}/qr`,
        has_password: password_hash !== null,
        state: stateOf(link, host.now()),
        starts_at: instantOrNull(link.starts_at),
        expires_at: instantOrNull(link.expires_at),
        archived_at: instantOrNull(link.archived_at),
        clicks: { total: clicks_human + clicks_bot, human: clicks_human, bot: clicks_bot, qr: clicks_qr },
        last_click_at: instantOrNull(link.last_click_at),
        created_at: instantText(link.created_at),
        updated_at: instantText(link.updated_at),
      }
    },
  }
}
