import { type Static, Type as t } from "@sinclair/typebox"
import { type Fault, fault, inspect, isObject, normalizeUnicode, orNull, parseDay, parseInstant, refuseFaults } from "#plugin"
import { withoutEmpty } from "./address.ts"
import { acceptDestination, type DestinationTerms } from "./destination.ts"
import { linkError } from "./errors.ts"
import { LIMITS, type LinkFields, type RedirectStatus, type Rule, STATUSES, UTM_KEYS, type Utm, type When } from "./link.ts"
import { momentsOf } from "./rules.ts"

const closed = { additionalProperties: false } as const
const text = (maxLength: number, description: string) => t.String({ maxLength, description })
const Word = t.String({ minLength: 1, maxLength: 100 })
/** One value or several alternatives. */
const words = (description: string) => t.Union([t.Array(Word, { minItems: 1, maxItems: 50 }), Word], { description })
const moment = (description: string) => orNull(t.String({ description: `${description} Instant with its offset, in RFC 3339.` }))

export const UtmInput = t.Object(Object.fromEntries(UTM_KEYS.map((key) => [key, t.Optional(text(200, `Value of \`${key}\`.`))])), {
  ...closed,
  description: "Campaign tags.",
})
const WhenInput = t.Object(
  {
    device: t.Optional(words("Types of device, such as `mobile`. Several are alternatives.")),
    os: t.Optional(words("Operating systems, such as `Android`. Several are alternatives.")),
    country: t.Optional(words("ISO 3166-1 codes of countries. Several are alternatives.")),
    language: t.Optional(words("Language codes. `de` includes `de-AT`. Several are alternatives.")),
    query: t.Optional(
      t.Object(
        {
          name: t.String({ minLength: 1, maxLength: 100, description: "Name of the parameter." }),
          value: t.Optional(text(200, "Value of the parameter. Default: any value.")),
        },
        { ...closed, description: "Query parameter of the request." },
      ),
    ),
    date: t.Optional(
      t.Object(
        {
          from: t.Optional(text(40, "First day in the time zone of the site, or first instant. Default: no start.")),
          to: t.Optional(text(40, "Last day (inclusive) in the time zone of the site, or end. Default: no end.")),
        },
        { ...closed, description: "Period of the request." },
      ),
    ),
  },
  { ...closed, description: "Conditions, at least one, that must all match." },
)
const RuleInput = t.Object({ when: WhenInput, destination: t.String({ description: "Destination if the conditions match." }) }, closed)

export const LinkInput = t.Object(
  {
    destination: t.String({ description: "Destination URL with http, https or an allowed scheme. Used exactly as sent." }),
    slug: t.Optional(t.String({ description: "1 to 64 letters, digits, hyphens and underscores. Default: a random slug." })),
    domain_id: t.Optional(
      orNull(t.Integer({ minimum: 1, description: "Id of a verified link domain. Default: null, the host of the instance." })),
    ),
    title: t.Optional(text(200, "Display name. Default: empty.")),
    notes: t.Optional(text(2_000, "Notes for members. Default: empty.")),
    tags: t.Optional(
      t.Array(t.String({ minLength: 1, maxLength: 40 }), { maxItems: LIMITS.tags, uniqueItems: true, description: "Tags. Default: none." }),
    ),
    redirect_status: t.Optional(t.Integer({ description: "HTTP status of the redirect: 301, 302, 307 or 308. Default: 302." })),
    forward_query: t.Optional(t.Boolean({ description: "Whether the query of a request is added to the destination. Default: true." })),
    forward_path: t.Optional(t.Boolean({ description: "Whether the path after the slug is appended to the destination. Default: false." })),
    utm: t.Optional(UtmInput),
    utm_mode: t.Optional(
      t.Union([t.Literal("fill"), t.Literal("override")], {
        description: "`fill` adds the tags that the destination lacks, `override` replaces existing ones. Default: `fill`.",
      }),
    ),
    utm_template_id: t.Optional(
      orNull(t.Integer({ minimum: 1, description: "Id of a campaign template, whose tags are added to `utm`. Default: null." })),
    ),
    starts_at: t.Optional(moment("Time from which the link redirects. Default: null, immediately.")),
    expires_at: t.Optional(moment("Time at which the link expires, after `starts_at`. Default: null, never.")),
    expired_destination: t.Optional(
      orNull(t.String({ description: "Destination of an expired link. Default: null, a page with status 410." })),
    ),
    max_clicks: t.Optional(
      orNull(
        t.Integer({
          minimum: 1,
          maximum: 1_000_000_000,
          description: "Number of human clicks after which the link expires. Default: null, unlimited.",
        }),
      ),
    ),
    password: t.Optional(
      orNull(t.String({ description: "Password that visitors have to enter, 4 to 256 characters. null removes it. Default: none." })),
    ),
    rules: t.Optional(
      t.Array(RuleInput, { maxItems: LIMITS.rules, description: "Rules for other destinations. The first match applies. Default: none." }),
    ),
    noindex: t.Optional(t.Boolean({ description: "Whether search engines are asked not to index the short URL. Default: true." })),
    force: t.Optional(
      t.Boolean({ description: "Take a slug that is reserved for a deleted item of the same organization. Default: false." }),
    ),
  },
  { ...closed, title: "LinkInput" },
)

/** A parsed body. Fields that it does not contain are missing. */
export interface ReadLink {
  fields: Partial<Omit<LinkFields, "utm">> & { utm?: Utm }
  /** Null removes the password, undefined keeps it. */
  password: string | null | undefined
  utmTemplateId: number | undefined
  force: boolean
}

/** Separates the version that a patch is based on from its fields. */
export function versionOf(body: unknown): { version: number | undefined; patch: unknown } {
  if (!isObject(body) || body.version === undefined) return { version: undefined, patch: body }
  const { version, ...patch } = body
  if (!Number.isSafeInteger(version)) refuseFaults([fault("/version", "invalid_type", "must be an integer")])
  return { version: version as number, patch } // checked just now
}

/** Set by the server, and ignored so that the body of a GET can be sent back. */
const SHOWN_ONLY = ["short_url", "qr_url", "state", "archived_at", "has_password", "clicks", "last_click_at", "created_by", "sparkline"]

/** What the parser of a body needs to know about the site and the user. */
export interface LinkTerms {
  destinations: DestinationTerms
  /** Time zone of the site, in which the days of rules are counted. */
  timezone: string
}

/** Parses a body. Throws `validation_failed` with all faults at once, or else the first error of a destination. */
export function readLink(body: unknown, { destinations, timezone }: LinkTerms, isPatch: boolean): ReadLink {
  const schema = isPatch ? ({ ...LinkInput, required: [] } as unknown as typeof LinkInput) : LinkInput
  const { fields, faults } = inspect(schema, isObject(body) ? withoutAddresses(body) : body)
  refuseFaults([...faults, ...meaningFaults(fields), ...(fields.rules ?? []).flatMap(ruleFaults(timezone))])
  const sent = body as Record<string, unknown> // anything else was rejected above
  const { password: _, force, utm_template_id, rules, utm, starts_at, expires_at, ...others } = fields
  const password = passwordOf(sent.password)
  return {
    fields: {
      ...(others as Partial<LinkFields>),
      ...(utm !== undefined && { utm: withoutEmpty(utm as Utm) }),
      ...(starts_at !== undefined && { starts_at: momentOrNull(starts_at) }),
      ...(expires_at !== undefined && { expires_at: momentOrNull(expires_at) }),
      ...addressesOf(sent, rules, destinations),
    },
    password,
    utmTemplateId: utm_template_id ?? undefined,
    force: force ?? false,
  }
}

const momentOrNull = (text: string | null): number | null => (text === null ? null : parseInstant(text)!) // checked by meaningFaults

/**
 * Replaces destinations and the password by placeholders, so that the schema checks only their type: they have rules and error codes of
 * their own and must not be normalized.
 */
function withoutAddresses(body: Record<string, unknown>): Record<string, unknown> {
  const sent = Object.fromEntries(Object.entries(body).filter(([name]) => !SHOWN_ONLY.includes(name)))
  const placeholder = (value: unknown) => (typeof value === "string" ? "x" : value)
  if ("destination" in sent) sent.destination = placeholder(sent.destination)
  if ("expired_destination" in sent) sent.expired_destination = placeholder(sent.expired_destination)
  if ("password" in sent) sent.password = placeholder(sent.password)
  if (Array.isArray(sent.rules))
    sent.rules = sent.rules.map((rule) => (isObject(rule) ? { ...rule, destination: placeholder(rule.destination) } : rule))
  return sent
}

function addressesOf(sent: Record<string, unknown>, rules: Static<typeof RuleInput>[] | undefined, terms: DestinationTerms) {
  const { destination, expired_destination: expired } = sent
  const sentRules = sent.rules as { destination: string }[] // inspected by the caller
  return {
    ...(typeof destination === "string" && { destination: acceptDestination(destination, terms) }),
    ...(expired !== undefined && {
      expired_destination: expired === null ? null : acceptDestination(String(expired), terms, "/expired_destination"),
    }),
    ...(rules && {
      rules: rules.map(
        ({ when }, index): Rule => ({
          when: whenOf(when),
          destination: acceptDestination(sentRules[index]!.destination, terms, `/rules/${index}/destination`),
        }),
      ),
    }),
  }
}

const listOf = (value: string | string[] | undefined): readonly string[] | undefined => (typeof value === "string" ? [value] : value)

function whenOf({ device, os, country, language, query, date }: Static<typeof WhenInput>): When {
  const parts = { device: listOf(device), os: listOf(os), country: listOf(country), language: listOf(language), query, date }
  return Object.fromEntries(Object.entries(parts).filter(([, part]) => part !== undefined)) as When
}

function meaningFaults({ starts_at, expires_at, redirect_status }: Partial<Static<typeof LinkInput>>): Fault[] {
  const faults: Fault[] = []
  const instant = (name: string, text: string | null | undefined) => {
    if (typeof text === "string" && parseInstant(text) === undefined)
      faults.push(fault(`/${name}`, "invalid_date", "must be an instant with its offset, such as 2026-11-21T12:00:00Z"))
  }
  instant("starts_at", starts_at)
  instant("expires_at", expires_at)
  if (redirect_status !== undefined && !STATUSES.includes(redirect_status as RedirectStatus))
    faults.push(fault("/redirect_status", "invalid_choice", `must be ${STATUSES.join(", ")}`, STATUSES))
  return faults
}

const ruleFaults =
  (timezone: string) =>
  ({ when }: Static<typeof RuleInput>, index: number): Fault[] => {
    const at = `/rules/${index}/when`
    if (Object.keys(when).length === 0) return [fault(at, "required", "must have at least one condition")]
    return when.date ? dateFaults(when.date, { at: `${at}/date`, timezone }) : []
  }

/** A rule whose dates exclude every moment would silently never match. */
function dateFaults(date: NonNullable<When["date"]>, { at, timezone }: { at: string; timezone: string }): Fault[] {
  if (date.from === undefined && date.to === undefined) return [fault(at, "required", "must have a start or an end")]
  const faults = (["from", "to"] as const).flatMap((end) => {
    const text = date[end]
    const isMoment = text === undefined || parseDay(text) !== undefined || parseInstant(text) !== undefined
    return isMoment ? [] : [fault(`${at}/${end}`, "invalid_date", "must be a date or an instant")]
  })
  if (faults.length > 0) return faults
  const { begins, ends } = momentsOf(date, timezone)
  return begins < ends ? [] : [fault(`${at}/to`, "invalid_range", "must be after from")]
}

/** Throws if a link would expire before it starts. */
export function refuseReversed({ starts_at, expires_at }: Pick<LinkFields, "starts_at" | "expires_at">): void {
  if (starts_at !== null && expires_at !== null && starts_at >= expires_at)
    refuseFaults([fault("/expires_at", "invalid_range", "must be after starts_at")])
}

const PASSWORD = { min: 4, max: 256 } as const

/** Returns the password in normalized Unicode, because keyboards encode the same characters differently. */
function passwordOf(given: unknown): string | null | undefined {
  if (given === undefined || given === null) return given
  const password = normalizeUnicode(String(given))
  const length = [...password].length
  if (length < PASSWORD.min) refuseFaults([fault("/password", "too_short", `must have at least ${PASSWORD.min} characters`)])
  if (length > PASSWORD.max) refuseFaults([fault("/password", "too_long", `must have at most ${PASSWORD.max} characters`)])
  if (!password.isWellFormed()) refuseFaults([fault("/password", "invalid_characters", "contains invalid characters")])
  return password
}

/** Returns the error for tags that a template requires and a link does not have. */
export const utmRequired = (missing: readonly string[]) =>
  linkError("utm_required", `The template requires ${missing.join(", ")}.`, {
    errors: missing.map((key) => fault(`/utm/${key}`, "required", "is required")),
  })
