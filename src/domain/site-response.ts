/** Responses about sites, their settings and the rules for their events. */
import { type Static, Type as t } from "@sinclair/typebox"
import type { ClaimReason } from "./host.ts"
import { ReportRange } from "./report.ts"
import { anyOf, CREATED_AT, field, Instant, named, orNull, textOf, txtRecord, UPDATED_AT } from "./response.ts"
import type { RuleCondition, ShieldKind } from "./shield.ts"
import type { ReadRole } from "./site.ts"
import type { IdentityMode } from "./visit.ts"

export const SiteResponse = t.Object(
  {
    id: field.id("Id of the site."),
    name: t.String({ description: "Display name." }),
    hosts: t.Array(t.String(), { description: "Hosts of the site. `*.example.com` stands for every host below `example.com`." }),
    timezone: t.String({ description: "IANA time zone of the site's days." }),
    retention_days: orNull(t.Integer(), { description: "Number of days that events are kept. null means forever." }),
    revenue_currency: t.String({ description: "ISO 4217 code of the currency of the site's revenue." }),
    tracking_id: t.String({ format: "uuid", description: "Id of the site in the tracker's requests." }),
    snippet: t.String({ description: "Script element for the head of every page. Contains `data-local` if one of the hosts is local." }),
    first_event_at: t.Optional(t.String({ format: "date-time", description: "Time of the first event. Absent until then." })),
    created_at: CREATED_AT,
    updated_at: UPDATED_AT,
  },
  // Set explicitly: Elysia would close this schema on first use, but not its copies, and the document allows only one schema `Site`.
  { title: "Site", description: "Site with its public settings.", additionalProperties: false },
)
export type SiteResponse = Static<typeof SiteResponse>

/** A site in the private API: the public fields and those that depend on the user. */
export const OwnSiteResponse = t.Object(
  {
    ...SiteResponse.properties,
    organization: named("Organization that owns the site."),
    role: t.String({ description: "Role of the caller on the site." }),
    pinned: t.Boolean({ description: "Whether the caller has pinned the site to the top of the list." }),
    version: t.Integer({ description: "Version of the site, which increases with each change." }),
  },
  { title: "OwnSite" },
)
export type OwnSiteResponse = Static<typeof OwnSiteResponse>

export const ListedSiteResponse = t.Object(
  {
    ...OwnSiteResponse.properties,
    current_visitors: t.Integer({ minimum: 0, description: "Visitors of the last 5 minutes." }),
    last_event_at: orNull(Instant, { description: "Time of the latest event. null until the first one." }),
    visitors: t.Optional(
      t.Integer({ minimum: 0, description: "Visitors of the last 7 days. Absent if they cannot be counted at the moment." }),
    ),
    visitors_by_day: t.Optional(t.Array(t.Integer({ minimum: 0 }), { description: "Visitors per day of the last 7 days, oldest first." })),
    change_percent: t.Optional(t.Number({ description: "Change of the visitors from the previous 7 days, in percent." })),
  },
  { title: "ListedSite" },
)
export type ListedSiteResponse = Static<typeof ListedSiteResponse>

/** All settings of a site except its name, its hosts and its shields. */
export const SettingsResponse = t.Object({
  timezone: t.String({ description: "IANA time zone of the site's days." }),
  retention_days: orNull(t.Integer(), { description: "Number of days that events are kept. null means forever." }),
  revenue_currency: t.String({ description: "ISO 4217 code of the currency of the site's revenue." }),
  strict_origin: t.Boolean({ description: "Whether events need an `Origin` or `Referer` of one of the site's hosts." }),
  accept_any_host: t.Boolean({ description: "Whether events are accepted for hosts that the site does not list." }),
  identity_mode: textOf<IdentityMode>({
    description: "Period for which a visitor is recognized: `daily`, `weekly`, `monthly`, `identified` or `persistent`.",
  }),
  persistent_days: t.Integer({ description: "Number of days after which a visitor's persistent id expires." }),
  store_user_ids: t.Boolean({
    description: "Whether the user ids that pages send are stored. Otherwise only a key derived from them is stored.",
  }),
  consent_default: t.Union([t.Literal("granted"), t.Literal("denied")], {
    description: "Consent assumed for visitors who have neither given nor denied it.",
  }),
  respect_gpc: t.Boolean({ description: "Whether events of visitors who send Do Not Track or Global Privacy Control are dropped." }),
  drop_bots: t.Boolean({ description: "Whether events of bots are dropped." }),
  drop_spam: t.Boolean({ description: "Whether events with a referrer known for spam are dropped." }),
  drop_probes: t.Boolean({ description: "Whether events for paths that only scanners request are dropped." }),
  drop_datacenters: t.Boolean({ description: "Whether events from the networks of data centres are dropped." }),
  min_group: t.Integer({ description: "Minimum number of visitors in a row of a shared view. Smaller groups are hidden." }),
  bounce_engaged_seconds: t.Integer({ description: "Engaged seconds from which a visit is not a bounce. 0 turns this off." }),
  allowed_query_params: t.Array(t.String(), { description: "Query parameters that are kept in the page's path." }),
  hash_routing: t.Boolean({ description: "Whether the part of the URL after `#` belongs to the page's path." }),
  compat_ids: t.Object(
    {
      plausible: t.Array(t.String(), { description: "Domains of the site in Plausible." }),
      umami: t.Array(t.String(), { description: "Website ids of the site in Umami." }),
      goatcounter: t.Array(t.String(), { description: "Codes of the site in GoatCounter." }),
    },
    { description: "Site ids of other products whose trackers send events to this site." },
  ),
  public: t.Boolean({ description: "Whether anyone can see the statistics, through a shared view created for this purpose." }),
  order_property: t.String({ description: "Event property that contains the order id of a sale or refund." }),
  read_role: textOf<ReadRole>({
    description: "Lowest role that sees revenue: `viewer`, `editor` or `admin`. API keys and shared views see it only with `viewer`.",
  }),
  version: t.Integer({ description: "Version of the site, which increases with each change." }),
})
export type SettingsResponse = Static<typeof SettingsResponse>

export const HostDisputeResponse = t.Object(
  {
    host: t.String({ description: "Disputed host. `*.example.com` stands for every host below `example.com`." }),
    belongs_to: t.Union([t.Literal("this_organization"), t.Literal("another_organization"), t.Null()], {
      description: "Owner of the host. null: not known, so that events which name only the host are dropped as `host_disputed`.",
    }),
    reason: t.Unsafe<ClaimReason | null>(
      t.Union([t.Literal("decided"), t.Literal("proved"), t.Literal("listed_first"), t.Null()], {
        description: "An instance admin decided, a DNS record proves it, or the owner listed the host first and has events from it.",
      }),
    ),
    provable_host: t.Union([t.String(), t.Null()], { description: "Host to prove by a DNS record. null: the DNS cannot hold one." }),
  },
  { title: "HostDispute" },
)
export type HostDisputeResponse = Static<typeof HostDisputeResponse>

export const SiteSettingsResponse = t.Object(
  {
    ...SettingsResponse.properties,
    host_disputes: t.Array(HostDisputeResponse, { description: "Hosts that sites of other organizations claim as well. Read-only." }),
  },
  { title: "SiteSettings" },
)
export type SiteSettingsResponse = Static<typeof SiteSettingsResponse>

export const RetentionPreview = t.Object(
  {
    cutoff_day: t.String({ format: "date", description: "Visits that started before this day would be deleted." }),
    events: t.Integer({ description: "Number of pageviews and custom events that would be deleted." }),
    visits: t.Integer({ description: "Number of visits that would be deleted." }),
    imported_days: t.Optional(
      t.Integer({ description: "Number of earlier days with imported history, which would be deleted too. Absent if there are none." }),
    ),
    first_run_at: t.String({ format: "date-time", description: "Time of the daily run that would first delete them." }),
  },
  { title: "RetentionPreview" },
)
export type RetentionPreview = Static<typeof RetentionPreview>

export const ErasurePreview = t.Object(
  {
    range: ReportRange,
    visits: t.Integer({ minimum: 0, description: "Number of visits that would be deleted." }),
    events: t.Integer({ minimum: 0, description: "Number of pageviews and custom events that would be deleted." }),
    confirm: t.String({ description: "Token that confirms the deletion of exactly this data." }),
    confirm_expires_at: field.instant("Expiry time of the token."),
  },
  { title: "ErasurePreview" },
)
export type ErasurePreview = Static<typeof ErasurePreview>

export const HostProofResponse = t.Object(
  {
    id: field.id("Id of the proof."),
    host: t.String({ description: "Host without `*.` and `www.`. The proof covers every host below it." }),
    record: txtRecord("DNS record that proves the host."),
    verified_at: orNull(Instant, { description: "Time at which the record was found. null until then." }),
    created_at: CREATED_AT,
  },
  { title: "HostProof" },
)
export type HostProofResponse = Static<typeof HostProofResponse>

export const ShieldResponse = t.Object(
  {
    id: field.id("Id of the shield."),
    kind: textOf<ShieldKind>({ description: "Kind: `ip`, `country`, `page`, `hostname`, `referrer` or `rule`." }),
    value: t.String({ description: "Value to match. For kind `rule`: name of the rule." }),
    conditions: t.Optional(t.Array(anyOf<RuleCondition>(), { description: "Conditions that must all hold. Only for kind `rule`." })),
    note: t.String({ description: "Note for the people who manage the site." }),
    enabled: field.flag("Whether the shield drops events."),
    hits_7d: t.Integer({ minimum: 0, description: "Number of events that the shield dropped in the last 7 days." }),
    version: t.Integer({ description: "Version of the shield, which increases with each change." }),
  },
  { title: "Shield" },
)
export type ShieldResponse = Static<typeof ShieldResponse>
