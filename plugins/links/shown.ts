import { type Static, Type as t } from "@sinclair/typebox"
import { Instant, instantOrNull, instantText, orNull } from "#plugin"
import { type Link, type LinksHost, stateOf } from "./link.ts"
import type { Cache } from "./serving/cache.ts"

export const Id = t.Integer({ minimum: 1 })

/** A link as it is answered. */
export const LinkShown = t.Object(
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
    utm: t.Record(t.String(), t.String()),
    utm_mode: t.String(),
    starts_at: orNull(Instant),
    expires_at: orNull(Instant),
    expired_destination: orNull(t.String()),
    max_clicks: orNull(t.Integer()),
    has_password: t.Boolean(),
    rules: t.Array(t.Object({ when: t.Any(), destination: t.String() })),
    noindex: t.Boolean(),
    state: t.String({ description: "`active`, `archived` or `expired`. A link that has not started is active." }),
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
export type LinkShown = Static<typeof LinkShown>

export interface Showing {
  shortUrl(link: Pick<Link, "slug" | "domain_id">): string
  link(link: Link): LinkShown
}

export function createShowing(host: LinksHost, cache: Cache, prefix: string): Showing {
  function shortUrl({ slug, domain_id }: Pick<Link, "slug" | "domain_id">): string {
    const domain = domain_id === null ? undefined : cache.domainById(domain_id)
    return domain ? `${schemeOf(host.baseUrl())}://${domain.host}/${slug}` : `${host.baseUrl()}/${prefix}/${slug}`
  }
  return {
    shortUrl,
    link({ site_id, password_hash, password_version: _, counted_to: __, deleted_at: ___, clicks_human, clicks_bot, clicks_qr, ...link }) {
      const whole = { ...link, site_id, password_hash, clicks_human } as Link
      const { id, ...others } = link
      return {
        id,
        ...others,
        tags: [...link.tags],
        rules: link.rules.map(({ when, destination }) => ({ when, destination })),
        short_url: shortUrl(link),
        qr_url: `/api/private/sites/${site_id}/links/${id}/qr`,
        has_password: password_hash !== null,
        state: stateOf(whole, host.now()),
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

/** Domains are served by the same proxy as the instance. */
const schemeOf = (baseUrl: string): string => (baseUrl.startsWith("https:") ? "https" : "http")

export const says = (tag: "links" | "utm-templates" | "link-domains", summary: string, more: object = {}) => ({
  summary,
  tags: [tag],
  ...more,
})
/** Failures that do not follow from what a route is, for the documents. */
export const refuses = (...codes: string[]): object => ({ "x-failures": codes })
/** What a body takes, where a service judges it. */
export const takes = (schema: object): object => ({ requestBody: { required: true, content: { "application/json": { schema } } } })
