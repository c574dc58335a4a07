import type { Fault } from "../../domain/error.ts"
import type { Vitals } from "../../domain/event.ts"
import { COLLECT } from "../../domain/limits.ts"
import { cutBytes } from "../request/text.ts"
import {
  type Body,
  type Field,
  field,
  isObject,
  parseJson,
  readAddress,
  readBoolean,
  readEventId,
  readLooseText,
  readName,
  readNumber,
  readProps,
  readText,
  readUserId,
  refuse,
  refuseType,
} from "./fields.ts"
import type { Incoming } from "./incoming.ts"

/** Result of reading a payload: the event, or its faults with the site names, as far as they could be read. */
export type Reading = { incoming: Incoming } | { faults: Fault[]; named: readonly string[] }

const OWN_NAMES = ["link_click", "pixel_open"]
const MAX_SITES = 5
const NO_SCROLL_DEPTH = 255
const ENGAGED_LIMIT_MS = 30 * 86_400_000
const DEVICE_ID = /^[0-9a-f]{32}$/i
const VITAL_LIMIT_MS = 60_000
const CLS_LIMIT = 100

const decoder = new TextDecoder("utf-8", { fatal: true })

/**
 * Reads the native payload (metrics.md 18.2), which every payload of Plausible's script satisfies. Written by hand instead of
 * with a schema, because it runs for every event and ignores unknown fields, which an API would refuse.
 */
export function readNative(bytes: Uint8Array): Reading {
  const body = parsedBody(bytes)
  return isObject(body) ? readBody(body) : { faults: [NOT_JSON], named: [] }
}

const NOT_JSON: Fault = { pointer: "", code: "invalid_type", detail: "The body must be a JSON object in UTF-8." }

/** Parses a body as JSON. Returns undefined when it is not UTF-8 or not JSON. */
export function parsedBody(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes))
  } catch {
    return undefined
  }
}

/** Reads the native payload from a body that is already an object, such as the query of a pixel. */
export function readBody(body: Body): Reading {
  const faults: Fault[] = []
  const named = readNamed(field(body, faults, "d", "domain"))
  const name = readName(field(body, faults, "n", "name"), OWN_NAMES)
  const address = readAddress(field(body, faults, "u", "url"))
  const internal = name === "engagement" || name === "vitals"
  const props = readProps(propsField(body, faults))
  const incoming = {
    name,
    address,
    named,
    referrer: cutBytes(readLooseText(field(body, faults, "r", "referrer")), COLLECT.referrerBytes),
    title: readLooseText(field(body, faults, "t", "title")),
    props: internal ? [] : props.pairs,
    propsDiscarded: props.discarded,
    interactive: readInteractive(field(body, faults, "i", "interactive")),
    revenue: internal ? undefined : readRevenue(field(body, faults, "$", "revenue")),
    engagement: name === "engagement" ? readEngagement(body, faults) : undefined,
    vitals: name === "vitals" ? readVitals(field(body, faults, "f")) : undefined,
    hash: readHash(field(body, faults, "h", "hashMode")),
    language: readLanguage(field(body, faults, "l", "language")),
    timezone: readText(field(body, faults, "tz")),
    width: readNumber(field(body, faults, "w", "screen_width")),
    userId: readUserId(field(body, faults, "x", "user_id")),
    deviceId: readDeviceId(field(body, faults, "y")),
    id: readEventId(field(body, faults, "id")),
    ageMs: Math.min(COLLECT.ageMs, Math.max(0, readNumber(field(body, faults, "o")) ?? 0)),
  }
  return faults.length > 0 ? { faults, named } : { incoming }
}

function readNamed(target: Field): readonly string[] {
  if (target.value === undefined) return []
  const text = readText(target)
  const names = text.includes(",") ? text.split(",").map((name) => name.trim()) : [text.trim()]
  if (names.some((name) => name === "")) {
    if (typeof target.value === "string") refuse(target, "too_short", "must name a site")
    return []
  }
  if (names.length > MAX_SITES) refuse(target, "too_many", `must name at most ${MAX_SITES} sites`)
  return names.length === 1 ? names : [...new Set(names)]
}

/** Returns the properties, which have four names. Under `m` and `meta` they are JSON as text. */
function propsField(body: Body, faults: Fault[]): Field {
  const usual = field(body, faults, "p", "props")
  return usual.value === undefined ? field(body, faults, "m", "meta") : usual
}

const readInteractive = (target: Field): boolean => readBoolean(target, true)

/** Reads revenue, unparsed, from an object or from JSON text. Anything else counts as revenue that cannot be read. */
function readRevenue({ value }: Field): Incoming["revenue"] {
  if (value === undefined) return undefined
  const sent = typeof value === "string" ? parseJson(value) : value
  return isObject(sent) ? { amount: sent.amount, currency: sent.currency } : { amount: undefined, currency: undefined }
}

function readEngagement(body: Body, faults: Fault[]): Incoming["engagement"] {
  const engaged = field(body, faults, "e")
  const depth = readNumber(field(body, faults, "sd"))
  const engagedMs = readNumber(engaged)
  if (engaged.value === undefined && depth === undefined) return refuse(engaged, "required", "or sd is required")
  const isKnown = depth !== undefined && depth >= 0 && depth !== NO_SCROLL_DEPTH
  const isPlausible = engagedMs !== undefined && engagedMs > 0 && engagedMs < ENGAGED_LIMIT_MS
  return { engagedMs: isPlausible ? engagedMs : 0, ...(isKnown && { scrollDepth: Math.min(100, depth) }) }
}

/** Reads the web vitals that are within their bounds. Refuses a payload without any. */
export function readVitals(target: Field): Vitals | undefined {
  if (target.value === undefined) return refuse(target, "required", "is required")
  const sent = target.value
  if (!isObject(sent)) return refuseType(target, "an object")
  const vitals: Vitals = {}
  for (const name of ["lcp", "inp", "fcp", "ttfb"] as const) {
    const value = sent[name]
    if (isWithin(value, VITAL_LIMIT_MS)) vitals[name] = Math.round(value)
  }
  if (isWithin(sent.cls, CLS_LIMIT)) vitals.cls = Math.round(sent.cls * 1_000) / 1_000
  return Object.keys(vitals).length > 0 ? vitals : refuse(target, "out_of_range", "contains no value within its bounds")
}

const isWithin = (value: unknown, max: number): value is number => typeof value === "number" && value >= 0 && value <= max

function readHash(target: Field): boolean {
  const { value } = target
  if (value === undefined || value === 0 || value === false) return false
  return value === 1 || value === true || (refuse(target, "invalid_choice", "must be 1 or true", [1]) ?? false)
}

function readLanguage(target: Field): string {
  const language = readText(target)
  return language.length <= COLLECT.languageChars
    ? language
    : (refuse(target, "too_long", `must have at most ${COLLECT.languageChars} characters`) ?? "")
}

function readDeviceId(target: Field): string {
  const id = readText(target)
  return id === "" || DEVICE_ID.test(id)
    ? id.toLowerCase()
    : (refuse(target, "invalid_characters", "must have 32 hexadecimal digits") ?? "")
}

/** Reads the request of the pixel for pages without scripts: `/p.gif?d=<site>&u=<url>&r=<referrer>`. Without `u` the page is the `Referer`. */
export function readPixel(url: string, referer: string): Reading {
  const start = url.indexOf("?")
  const query = new URLSearchParams(start < 0 ? "" : url.slice(start + 1))
  const sent = { d: query.get("d"), u: query.get("u") ?? (referer || undefined), r: query.get("r") }
  return readBody({ name: "pageview", ...sent })
}
