/** A link as values of form fields, and their conversion to a request body. */
import { UTM_KEYS, type Utm, type When } from "../link.ts"
import type { LinkResponse } from "../responses.ts"
import { instantOf, localOf } from "./zone-time.ts"

export interface RuleDraft {
  /** Identifies the rule while rules are reordered. */
  key: number
  devices: readonly string[]
  /** Alternatives separated by commas, as in the next two. */
  os: string
  country: string
  language: string
  queryName: string
  queryValue: string
  from: string
  to: string
  destination: string
}

export interface LinkDraft {
  destination: string
  slug: string
  /** Whether to take a slug that is reserved for a deleted link. */
  force: boolean
  /** Id, or empty for the host of the instance. */
  domain: string
  title: string
  notes: string
  /** Separated by commas. */
  tags: string
  status: string
  forwardQuery: boolean
  forwardPath: boolean
  noindex: boolean
  utm: Utm
  utmMode: "fill" | "override"
  /** Id, or empty for none. */
  template: string
  /** Local times in the time zone of the site. */
  starts: string
  expires: string
  expiredDestination: string
  maxClicks: string
  /** Null removes the password, empty keeps it. */
  password: string | null
  rules: readonly RuleDraft[]
}

let keys = 0
export const newRule = (fields: Partial<RuleDraft> = {}): RuleDraft => ({
  key: ++keys,
  ...{ devices: [], os: "", country: "", language: "", queryName: "", queryValue: "", from: "", to: "", destination: "" },
  ...fields,
})

/** Default values of a new link, the same as on the server. */
const NEW: LinkDraft = {
  ...{ destination: "", slug: "", force: false, domain: "", title: "", notes: "", tags: "" },
  ...{ status: "302", forwardQuery: true, forwardPath: false, noindex: true, utm: {}, utmMode: "fill", template: "" },
  ...{ starts: "", expires: "", expiredDestination: "", maxClicks: "", password: "", rules: [] },
}

export function draftOf(link: LinkResponse | undefined, timezone: string): LinkDraft {
  if (!link) return NEW
  return {
    destination: link.destination,
    slug: link.slug,
    force: false,
    domain: link.domain_id === null ? "" : String(link.domain_id),
    title: link.title,
    notes: link.notes,
    tags: link.tags.join(", "),
    status: String(link.redirect_status),
    forwardQuery: link.forward_query,
    forwardPath: link.forward_path,
    noindex: link.noindex,
    utm: link.utm,
    utmMode: link.utm_mode,
    template: "",
    starts: localOf(link.starts_at, timezone),
    expires: localOf(link.expires_at, timezone),
    expiredDestination: link.expired_destination ?? "",
    maxClicks: link.max_clicks === null ? "" : String(link.max_clicks),
    password: "",
    rules: link.rules.map(({ when, destination }) => ruleDraft(when, destination)),
  }
}

const joined = (values: readonly string[] | undefined): string => (values ?? []).join(", ")

const ruleDraft = ({ device, os, country, language, query, date }: When, destination: string): RuleDraft =>
  newRule({
    ...{ devices: (device ?? []).map((one) => one.toLowerCase()), os: joined(os), country: joined(country), language: joined(language) },
    ...{ queryName: query?.name ?? "", queryValue: query?.value ?? "", from: date?.from ?? "", to: date?.to ?? "", destination },
  })

const wordsIn = (text: string): string[] => [
  ...new Set(
    text
      .split(",")
      .map((word) => word.trim())
      .filter((word) => word !== ""),
  ),
]

/** Returns the conditions of a rule, without empty ones. */
function whenOf({ devices, os, country, language, queryName, queryValue, from, to }: RuleDraft): When {
  const list = (name: string, values: readonly string[]) => (values.length > 0 ? { [name]: values } : {})
  return {
    ...list("device", devices),
    ...list("os", wordsIn(os)),
    ...list("country", wordsIn(country.toUpperCase())),
    ...list("language", wordsIn(language)),
    ...(queryName.trim() !== "" && { query: { name: queryName.trim(), ...(queryValue !== "" && { value: queryValue }) } }),
    ...((from !== "" || to !== "") && { date: { ...(from !== "" && { from }), ...(to !== "" && { to }) } }),
  }
}

const orNull = (text: string): string | null => (text.trim() === "" ? null : text.trim())
/** Converts a local time to an instant. A malformed one is sent as typed, so that the server reports it. */
const instantOrNull = (local: string, timezone: string): string | null => (local === "" ? null : (instantOf(local, timezone) ?? local))

/** Returns the request body. An empty slug is left out, so that the server chooses one. */
export function bodyOf(draft: LinkDraft, timezone: string): Record<string, unknown> {
  const count = draft.maxClicks.trim()
  return {
    destination: draft.destination.trim(),
    ...(draft.slug.trim() !== "" && { slug: draft.slug.trim() }),
    ...(draft.force && { force: true }),
    domain_id: draft.domain === "" ? null : Number(draft.domain),
    title: draft.title.trim(),
    notes: draft.notes,
    tags: wordsIn(draft.tags),
    redirect_status: Number(draft.status),
    forward_query: draft.forwardQuery,
    forward_path: draft.forwardPath,
    noindex: draft.noindex,
    utm: utmOf(draft),
    utm_mode: draft.utmMode,
    ...(draft.template !== "" && { utm_template_id: Number(draft.template) }),
    starts_at: instantOrNull(draft.starts, timezone),
    expires_at: instantOrNull(draft.expires, timezone),
    expired_destination: orNull(draft.expiredDestination),
    max_clicks: count === "" ? null : Number(count),
    ...(draft.password !== "" && { password: draft.password }),
    rules: draft.rules.map((rule) => ({ when: whenOf(rule), destination: rule.destination.trim() })),
  }
}

export const utmOf = ({ utm }: Pick<LinkDraft, "utm">): Utm =>
  Object.fromEntries(UTM_KEYS.flatMap((key) => (utm[key]?.trim() ? [[key, utm[key].trim()]] : [])))

/** Returns the names and values of the fields as text. */
export const describeDraft = (draft: LinkDraft): (readonly [name: string, text: string])[] => [
  ["Destination", draft.destination],
  ["Slug", draft.slug],
  ["Title", draft.title],
  ["Tags", draft.tags],
  ["Notes", draft.notes],
  ["Redirect", draft.status],
  ["Campaign", UTM_KEYS.flatMap((key) => (draft.utm[key] ? [`${key}=${draft.utm[key]}`] : [])).join(" ")],
  ["Starts", draft.starts.replace("T", " ")],
  ["Expires", draft.expires.replace("T", " ")],
  ["Destination after expiry", draft.expiredDestination],
  ["Maximum clicks", draft.maxClicks],
  ["Rules", draft.rules.map((rule) => `${JSON.stringify(whenOf(rule))} → ${rule.destination}`).join("; ")],
]
