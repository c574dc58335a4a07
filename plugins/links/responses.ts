/** Responses of the area's routes. The dashboard takes its types from here as well. */
import { type Static, Type as t } from "@sinclair/typebox"
import { CREATED_AT, field, instantOrNull, instantText, orNull, UPDATED_AT } from "#plugin"
import { type Link, type LinkState, type LinksHost, stateOf, type Utm, type When } from "./link.ts"
import type { Cache } from "./serving/cache.ts"

const Count = t.Integer()
const count = (description: string) => t.Integer({ description })
const VERSION = field.integer("Version of the record, which increases with each change.")
const UTM_FIELDS = { description: "Campaign tags by name: `utm_source`, `utm_medium`, `utm_campaign`, `utm_term`, `utm_content`." }

export const LinkResponse = t.Object(
  {
    id: field.id("Id of the link."),
    slug: field.text("Last part of the short URL."),
    domain_id: orNull(field.id("Id of the link domain. null: the host of the instance.")),
    short_url: field.text("Short URL."),
    qr_url: field.text("Path of the QR code."),
    destination: field.text("Destination URL, exactly as it was sent."),
    title: field.text("Display name. Can be empty."),
    notes: field.text("Notes for members. Can be empty."),
    tags: field.texts("Tags."),
    redirect_status: field.integer("HTTP status of the redirect: 301, 302, 307 or 308."),
    forward_query: field.flag("Whether the query of a request is added to the destination."),
    forward_path: field.flag("Whether the path after the slug is appended to the destination."),
    utm: t.Unsafe<Utm>(t.Record(t.String(), t.String(), UTM_FIELDS)),
    utm_mode: t.Unsafe<Link["utm_mode"]>(
      t.String({ description: "`fill` adds the tags that the destination lacks, `override` replaces existing ones." }),
    ),
    starts_at: orNull(field.instant("Time from which the link redirects. null: from its creation.")),
    expires_at: orNull(field.instant("Time at which the link expires. null means never.")),
    expired_destination: orNull(field.text("Destination of an expired link. null: a page with status 410.")),
    max_clicks: orNull(field.integer("Number of human clicks after which the link expires. null means unlimited.")),
    has_password: field.flag("Whether visitors have to enter a password."),
    rules: t.Array(
      t.Object({
        when: t.Unsafe<When>(t.Any({ description: "Conditions that must all match, as in the request." })),
        destination: field.text("Destination if the conditions match."),
      }),
      { description: "Rules for other destinations. The first match applies." },
    ),
    noindex: field.flag("Whether search engines are asked not to index the short URL."),
    state: t.Unsafe<LinkState>(t.String({ description: "`active`, `archived` or `expired`. A link that has not started is active." })),
    archived_at: orNull(field.instant("Time at which the link was archived. null if it is not.")),
    clicks: t.Object(
      {
        total: count("Number of all clicks."),
        human: count("Number of clicks by people."),
        bot: count("Number of clicks by bots."),
        qr: count("Number of clicks through the QR code."),
      },
      { description: "Clicks over all time, at most about 15 seconds behind." },
    ),
    last_click_at: orNull(field.instant("Time of the latest click. null before the first.")),
    created_by: orNull(field.integer("Id of the user who created the link. null when the user was deleted.")),
    version: VERSION,
    created_at: CREATED_AT,
    updated_at: UPDATED_AT,
  },
  { title: "Link" },
)
export type LinkResponse = Static<typeof LinkResponse>

const Spark = t.Object(
  {
    human: t.Array(t.Integer(), { description: "Clicks by people per day, oldest day first." }),
    bot: t.Array(t.Integer(), { description: "Clicks by bots per day, oldest day first." }),
  },
  { description: "Clicks per day of the last 30 days. null if they cannot be counted at the moment." },
)
/** A link in a list, with its clicks per day over the last 30 days; null if they could not be counted. */
export const ListedLinkResponse = t.Object({ ...LinkResponse.properties, sparkline: orNull(Spark) }, { title: "LinkListed" })
export type ListedLinkResponse = Static<typeof ListedLinkResponse>

export const SlugCheckResponse = t.Object({
  available: field.flag("Whether the slug can be used."),
  reason: t.Optional(t.String({ description: "Error code. Present only for a slug that is not available." })),
  suggestions: t.Optional(t.Array(t.String(), { description: "Similar slugs that are available. Present only with `reason`." })),
})
export type SlugCheckResponse = Static<typeof SlugCheckResponse>

const RowError = t.Object(
  {
    code: field.text("Error code."),
    detail: field.text("Explanation for people. The text may change."),
    errors: t.Optional(t.Any({ description: "Problems of the fields. Present only with `validation_failed`." })),
  },
  { description: "Error of the row. Present only if it failed." },
)
export const BulkResponse = t.Object(
  {
    results: t.Array(
      t.Object({
        index: field.integer("Position of the row in the request, starting at 0."),
        status: field.text("`created`, `updated`, `archived`, `deleted` or `failed`."),
        id: t.Optional(field.id("Id of the link. Absent if the row failed.")),
        error: t.Optional(RowError),
      }),
      { description: "Results in the order of the rows." },
    ),
  },
  { title: "LinkBulkResult" },
)
export type BulkResponse = Static<typeof BulkResponse>
export const ImportResponse = t.Object(
  {
    format: field.text("Detected format of the file."),
    dry_run: field.flag("Whether the response is a preview and no link was created."),
    counts: t.Object(
      { ok: count("Number of valid or created rows."), failed: count("Number of failed rows.") },
      { description: "Number of rows by result." },
    ),
    rows: t.Array(
      t.Object({
        line: field.integer("Number of the row's first line in the file."),
        status: t.Unsafe<"ok" | "created" | "failed">(t.String({ description: "`ok` in a preview, `created` or `failed`." })),
        slug: orNull(field.text("Slug. null if one is generated.")),
        destination: field.text("Destination URL."),
        id: t.Optional(field.id("Id of the link. Present only for status `created`.")),
        error: t.Optional(RowError),
      }),
      { description: "Results in the order of the file." },
    ),
  },
  { title: "LinkImportResult" },
)
export type ImportResponse = Static<typeof ImportResponse>

export const TemplateResponse = t.Object(
  {
    id: field.id("Id of the template."),
    name: field.text("Display name."),
    fields: t.Unsafe<Utm>(t.Record(t.String(), t.String(), UTM_FIELDS)),
    required: t.Unsafe<(keyof Utm)[]>(field.texts("Names of the campaign tags that a link with this template must have.")),
    all_sites: field.flag("Whether all sites of the organization can use the template."),
    version: VERSION,
  },
  { title: "UtmTemplate" },
)
export type TemplateResponse = Static<typeof TemplateResponse>
export const DomainResponse = t.Object(
  {
    id: field.id("Id of the link domain."),
    host: field.text("Host."),
    verified_at: orNull(field.instant("Time at which the host was verified. null until then.")),
    txt_record: orNull(t.String({ description: "TXT record that verifies the host. Null without permission to verify it." })),
    file: orNull(
      t.Object(
        { path: field.text("Path of the file."), content: field.text("Content of the file.") },
        { description: "File that verifies the host, as an alternative to the record. null without permission to verify it." },
      ),
    ),
    root_destination: orNull(field.text("Destination of requests without a slug. null: a page with status 404.")),
    not_found_destination: orNull(field.text("Destination of unknown slugs. null: a page with status 404.")),
    version: VERSION,
  },
  { title: "LinkDomain" },
)
export type DomainResponse = Static<typeof DomainResponse>

const Meta = t.Any({ description: "Range of the report, visitor window and notes." })
const Range = t.Any({ description: "Compared range." })
const HUMAN = count("Number of clicks by people.")
const BOT = count("Number of clicks by bots.")
const TOTAL = count("Number of all clicks.")
const UNIQUE = count("Number of distinct visitors who clicked.")
const Clicks = t.Object(
  { total: TOTAL, human: HUMAN, bot: BOT, unique: UNIQUE, qr: count("Number of clicks through the QR code.") },
  { description: "Number of clicks." },
)
/** Counts that the parameter `metrics` may leave out. */
const CLICK = { human: t.Optional(HUMAN), bot: t.Optional(BOT), total: t.Optional(TOTAL), unique: t.Optional(UNIQUE) }
export const StatsResponse = t.Object(
  {
    clicks: Clicks,
    bot_reasons: t.Record(t.String(), Count, { description: "Clicks by bots, by the reason for which they count as such." }),
    rules: t.Array(
      t.Object({ rule: field.integer("Number of the rule, starting at 1. 0 is the destination of the link."), human: HUMAN }),
      { description: "Clicks by people, by the rule that applied." },
    ),
    conversions: t.Optional(
      t.Array(
        t.Object({
          goal_id: field.id("Id of the goal."),
          name: field.text("Display name of the goal."),
          visits: count("Number of visits after a click that completed the goal."),
          visitors: count("Number of their visitors."),
        }),
        { description: "Completed goals. Present only with `conversions=true`." },
      ),
    ),
    comparison: t.Optional(
      t.Object(
        {
          range: Range,
          clicks: Clicks,
          change_percent: t.Record(t.String(), t.Number(), {
            description: "Relative change of each count in percent. Counts that were 0 in the compared range are left out.",
          }),
        },
        { description: "Clicks in the compared range. Present only with `compare`." },
      ),
    ),
    meta: Meta,
  },
  { title: "LinkStats" },
)
export type StatsResponse = Static<typeof StatsResponse>
const Point = t.Object({
  time: field.text("Start of the bucket."),
  partial: t.Optional(field.flag("Whether the bucket is still running or cut off by the range. Absent if not.")),
  ...CLICK,
})
export const TimeseriesResponse = t.Object(
  {
    interval: field.text("Length of the buckets, such as `day`."),
    points: t.Array(Point, { description: "Clicks per bucket, oldest first." }),
    comparison: t.Optional(
      t.Object(
        { range: Range, points: t.Array(Point, { description: "Clicks per bucket, oldest first." }) },
        { description: "Clicks in the compared range. Present only with `compare`." },
      ),
    ),
    meta: Meta,
  },
  { title: "LinkTimeseries" },
)
export type TimeseriesResponse = Static<typeof TimeseriesResponse>
export const BreakdownResponse = t.Object(
  {
    dimension: field.text("Dimension of the rows."),
    rows: t.Array(
      t.Object({
        value: field.text("Value of the dimension. `(none)` stands for a missing value."),
        label: t.Optional(field.text("Readable name of a value that is a code, such as a country. Absent for other values.")),
        truncated: t.Optional(field.flag("Whether the value was truncated to 500 characters. Absent if not.")),
        ...CLICK,
      }),
      { description: "Rows of the page, in the requested order." },
    ),
    total_rows: count("Number of all rows."),
    has_more: field.flag("Whether more rows follow."),
    meta: Meta,
  },
  { title: "LinkBreakdown" },
)
export type BreakdownResponse = Static<typeof BreakdownResponse>

const DAY = field.text("Day in UTC, YYYY-MM-DD.")
const ORPHAN_KIND = field.text("Kind: `unknown_slug`, `root`, `expired` or `not_started`.")
const REQUESTS = count("Number of requests.")
export const OrphansResponse = t.Object(
  {
    domains: t.Array(
      t.Object({
        day: DAY,
        domain_id: field.integer("Id of the link domain."),
        kind: ORPHAN_KIND,
        path_sample: field.text("Requested path. Empty for all paths after the hundredth of a day."),
        count: REQUESTS,
      }),
      { description: "Requests on the link domains of the organization, most frequent first." },
    ),
    instance: t.Array(t.Object({ day: DAY, kind: ORPHAN_KIND, count: REQUESTS }), {
      description: "Requests on the host of the instance.",
    }),
  },
  { title: "LinkOrphans" },
)
export type OrphansResponse = Static<typeof OrphansResponse>
export const TrialResponse = t.Object({
  outcome: t.String({ description: "`redirect`, `password`, `expired`, `not_started`, `archived`, `loop` or `unknown`." }),
  rule: t.Optional(t.Integer({ description: "Number of the rule that matched, starting at 1. 0 is the destination of the link." })),
  status: field.integer("HTTP status of the response."),
  url: t.Union([t.String(), t.Null()], { description: "URL to which the visitor is redirected. null without a redirect." }),
  bot_reason: t.Optional(field.text("Reason why the click counts as one by a bot. Absent for people.")),
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
      const { password_version: _, deleted_at: __, ...shown } = fields
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
