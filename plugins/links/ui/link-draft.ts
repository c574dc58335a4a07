/** A link as it is typed, and how that becomes what the server takes. */
import { UTM_KEYS, type Utm, type When } from "../link.ts"
import type { LinkAnswer } from "./answers.ts"
import { instantOf, localOf } from "./zone-time.ts"

export interface RuleDraft {
  /** Distinguishes it while rules are moved. */
  key: number
  devices: readonly string[]
  /** Of those three: alternatives with commas. */
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
  /** The slug was given up lately, and is wanted all the same. */
  force: boolean
  /** Id, or empty for the instance's own host. */
  domain: string
  title: string
  notes: string
  /** With commas. */
  tags: string
  status: string
  forwardQuery: boolean
  forwardPath: boolean
  noindex: boolean
  utm: Utm
  utmMode: "fill" | "override"
  /** Id, or empty. */
  template: string
  /** Local times of the site's zone. */
  starts: string
  expires: string
  expiredDestination: string
  maxClicks: string
  /** Null takes it away; empty leaves what there is. */
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

export function draftOf(link: LinkAnswer | undefined, timezone: string): LinkDraft {
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

/** Parts that say nothing are left out. */
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
/** What is no local time goes to the server as it is, which says so. */
const instantOrNull = (local: string, timezone: string): string | null => (local === "" ? null : (instantOf(local, timezone) ?? local))

/** As the server takes it. An empty slug is for the server to choose. */
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

/** Returns only the changed fields, so that another user's change to a different field is kept. */
export function changesOf(draft: LinkDraft, from: LinkDraft, timezone: string): Record<string, unknown> {
  const [before, after] = [bodyOf(from, timezone), bodyOf(draft, timezone)]
  return Object.fromEntries(Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])))
}

/** The draft in words, each part by its name. */
export const draftWords = (draft: LinkDraft): (readonly [name: string, text: string])[] => [
  ["Target", draft.destination],
  ["Slug", draft.slug],
  ["Title", draft.title],
  ["Tags", draft.tags],
  ["Notes", draft.notes],
  ["Redirect", draft.status],
  ["Campaign", UTM_KEYS.flatMap((key) => (draft.utm[key] ? [`${key}=${draft.utm[key]}`] : [])).join(" ")],
  ["Starts", draft.starts.replace("T", " ")],
  ["Expires", draft.expires.replace("T", " ")],
  ["Target once expired", draft.expiredDestination],
  ["Most clicks", draft.maxClicks],
  ["Rules", draft.rules.map((rule) => `${JSON.stringify(whenOf(rule))} → ${rule.destination}`).join("; ")],
]
