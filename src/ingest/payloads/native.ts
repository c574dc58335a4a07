import type { Fault } from "../../domain/error.ts"
import type { Vitals } from "../../domain/event.ts"
import { COLLECT } from "../../domain/limits.ts"
import { cutBytes } from "../text.ts"
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
  readText,
  readUserId,
  refuse,
  refuseType,
} from "./fields.ts"
import type { Incoming } from "./incoming.ts"
import { readProps } from "./props.ts"

/** Either the event or what is wrong with it. `named` says for whose counters, as far as that can be read. */
export type Reading = { incoming: Incoming } | { faults: Fault[]; named: readonly string[] }

const OWN_NAMES = ["link_click", "pixel_open"]
const MOST_SITES = 5
const NO_SCROLL_DEPTH = 255
const ENGAGED_LIMIT_MS = 30 * 86_400_000
const DEVICE_ID = /^[0-9a-f]{32}$/i
const VITAL_LIMIT_MS = 60_000
const CLS_LIMIT = 100

const decoder = new TextDecoder("utf-8", { fatal: true })

/**
 * Reads the native payload (metrics.md 18.2). Every payload of Plausible's script is one. Written by hand instead of a
 * schema: it runs for every event, and unknown fields are ignored where an API would refuse them.
 */
export function readNative(bytes: Uint8Array): Reading {
  const body = parsedBody(bytes)
  return isObject(body) ? readBody(body) : { faults: [NOT_JSON], named: [] }
}

const NOT_JSON: Fault = { pointer: "", code: "invalid_type", detail: "The body must be a JSON object in UTF-8." }

/** A body as JSON; undefined for what is no UTF-8 or no JSON. */
export function parsedBody(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes))
  } catch {
    return undefined
  }
}

/** The same for a body that is an object already, such as the query of a pixel. */
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
  if (names.length > MOST_SITES) refuse(target, "too_many", `names at most ${MOST_SITES} sites`)
  return names.length === 1 ? names : [...new Set(names)]
}

/** Properties have four names; the last two hold JSON as text. */
function propsField(body: Body, faults: Fault[]): Field {
  const usual = field(body, faults, "p", "props")
  return usual.value === undefined ? field(body, faults, "m", "meta") : usual
}

const readInteractive = (target: Field): boolean => readBoolean(target, true)

/** Kept as sent, or undefined; also as JSON text. What is no such object is revenue that cannot be read. */
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

/** Web vitals within their bounds; refused when there is none. */
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
  return Object.keys(vitals).length > 0 ? vitals : refuse(target, "out_of_range", "holds no value within its bounds")
}

const isWithin = (value: unknown, most: number): value is number => typeof value === "number" && value >= 0 && value <= most

function readHash(target: Field): boolean {
  const { value } = target
  if (value === undefined || value === 0 || value === false) return false
  return value === 1 || value === true || (refuse(target, "invalid_choice", "is 1 or true", [1]) ?? false)
}

function readLanguage(target: Field): string {
  const language = readText(target)
  return language.length <= COLLECT.languageChars
    ? language
    : (refuse(target, "too_long", `has at most ${COLLECT.languageChars} characters`) ?? "")
}

function readDeviceId(target: Field): string {
  const id = readText(target)
  return id === "" || DEVICE_ID.test(id) ? id.toLowerCase() : (refuse(target, "invalid_characters", "has 32 hex digits") ?? "")
}
