import { AppError, type Fault } from "../../domain/error.ts"
import { REFUSED_NAMES } from "../../domain/event.ts"
import { COLLECT } from "../../domain/limits.ts"
import type { RequestFacts } from "../draft.ts"
import { cutBytes, exceedsCharacters } from "../request/text.ts"
import { hostnameOf, type WebAddress } from "../request/web-address.ts"
import {
  type Body,
  type Field,
  field,
  isObject,
  readAddress,
  readLooseText,
  readName,
  readProps,
  readText,
  readUserId,
  refuse,
} from "./fields.ts"
import { type ForeignPayload, type ForeignReading, type Incoming, NOTHING_SENT, refererPage } from "./incoming.ts"
import { parsedBody, readVitals } from "./native.ts"

/** The payload that Umami's tracker and clients send to `/api/send` (metrics.md 18.3). */
export const umamiSend: ForeignPayload = {
  product: "umami",
  read: ({ body }, facts) => [readItem(parsedBody(body), facts)],
}

/** The payload of `/api/batch`: a list of such bodies. */
export const umamiBatch: ForeignPayload = {
  product: "umami",
  read({ body }, facts) {
    const items = parsedBody(body)
    if (!Array.isArray(items)) throw invalidList("invalid_type", "The body must be a JSON list of events in UTF-8.")
    if (items.length > COLLECT.batchEvents) throw invalidList("too_many", `A list can have at most ${COLLECT.batchEvents} events.`)
    return items.map((item) => readItem(item, facts))
  },
}

const invalidList = (code: string, detail: string) => new AppError("invalid_event", detail, { errors: [{ pointer: "", code, detail }] })

const TYPES = ["event", "identify", "performance"]
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const SCREEN = /^(\d{1,5})x\d{1,5}$/
const SHAPE: Fault = { pointer: "", code: "invalid_type", detail: "An event must be an object with type and payload." }
/** Limits of Umami, in characters. */
const MAX_CHARS = { name: 50, tag: 50, screen: 11, hostname: 100 }

/** The fields of a payload by name. */
type Fields = (name: string) => Field

function readItem(sent: unknown, facts: RequestFacts): ForeignReading {
  const payload = isObject(sent) ? sent.payload : undefined
  if (!isObject(sent) || !isObject(payload)) return { faults: [SHAPE], named: [] }
  const faults: Fault[] = []
  const of: Fields = (name) => ({ ...field(payload, faults, name), name: `payload/${name}` })
  const type = readType(field(sent, faults, "type"))
  const named = readWebsite(of)
  const userId = of("id").value === "" ? "" : readUserId(of("id"))
  const incoming = { ...readCommon(of, facts), named, userId, ...readKind(type, of) }
  if (faults.length > 0) return { faults, named }
  return type === "identify" && userId === "" ? { ignored: true } : { incoming }
}

function readType(target: Field): string {
  const { value } = target
  if (typeof value === "string" && TYPES.includes(value)) return value
  return refuse(target, value === undefined ? "required" : "invalid_choice", `must be ${TYPES.join(", ")}`, TYPES) ?? ""
}

function readWebsite(of: Fields): readonly string[] {
  const target = of("website")
  for (const other of ["link", "pixel"])
    if (of(other).value !== undefined) refuse(of(other), "invalid_choice", "is not supported by Footfall")
  if (target.value === undefined) return refuse(target, "required", "is required") ?? []
  const id = readText(target)
  return UUID.test(id) ? [id] : (refuse(target, "invalid_characters", "must be a UUID") ?? [])
}

/** Reads the fields that every type can have. As in Umami, the fragment is part of the page. */
function readCommon(of: Fields, facts: RequestFacts) {
  return {
    ...NOTHING_SENT,
    address: readPage(of, facts),
    hash: true,
    referrer: cutBytes(readLooseText(of("referrer")), COLLECT.referrerBytes),
    title: readLooseText(of("title")),
    language: limited(of("language"), COLLECT.languageChars),
    width: readWidth(of("screen")),
  }
}

function readKind(type: string, of: Fields): Pick<Incoming, "name"> & Partial<Incoming> {
  if (type === "identify") return { name: "identify", identifies: true }
  if (type === "performance") return { name: "vitals", vitals: readVitals({ ...of("lcp"), name: "payload", value: vitalsOf(of) }) }
  const { pairs, discarded } = readProps({ ...of("data"), value: propsOf(of) })
  return { name: readEventName(of("name")), props: pairs, propsDiscarded: discarded, revenue: revenueOf(of("data").value) }
}

/** Reads the event name. An event without a name is a pageview. */
function readEventName(target: Field): string {
  const { value } = target
  if (value === undefined || value === "") return "pageview"
  const isTooLong = typeof value === "string" && exceedsCharacters(value, MAX_CHARS.name)
  return isTooLong ? (refuse(target, "too_long", `must have at most ${MAX_CHARS.name} characters`) ?? "") : readName(target, REFUSED_NAMES)
}

/** Reads the page: a URL, or a path with a separate host name. Clients on servers often send neither. */
function readPage(of: Fields, facts: RequestFacts): WebAddress {
  const url = of("url")
  const address = url.value === undefined || url.value === "" ? refererPage(facts) : readAddress(url)
  return address.host === "" ? { ...address, host: readHostname(of("hostname")) } : address
}

function readHostname(target: Field): string {
  const text = limited(target, MAX_CHARS.hostname)
  if (text === "") return ""
  return hostnameOf(text) ?? refuse(target, "invalid_host", "must be a host name") ?? ""
}

function limited(target: Field, max: number): string {
  const text = readText(target)
  return exceedsCharacters(text, max) ? (refuse(target, "too_long", `must have at most ${max} characters`) ?? "") : text
}

/** Reads the width of the screen. Returns undefined when the size cannot be read. */
function readWidth(target: Field): number | undefined {
  const width = SCREEN.exec(limited(target, MAX_CHARS.screen))?.[1]
  return width === undefined ? undefined : Number(width)
}

const vitalsOf = (of: Fields): Body => Object.fromEntries(["lcp", "inp", "fcp", "ttfb", "cls"].map((name) => [name, of(name).value]))

/** Returns the properties with the tag first, so that no limit drops it. Refuses data that is not an object. */
function propsOf(of: Fields): unknown {
  const tag = limited(of("tag"), MAX_CHARS.tag)
  const data = of("data").value
  if (data !== undefined && !isObject(data)) return refuse(of("data"), "invalid_type", "must be an object") ?? {}
  const flat: Record<string, unknown> = Object.create(null)
  if (data) flatten(data, "", flat)
  return tag === "" ? flat : Object.assign(Object.create(null), { tag }, flat, { tag })
}

/** Flattens nested objects into keys joined with dots. Stops where a path is longer than a key may be. */
function flatten(data: Body, above: string, flat: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(data)) {
    const path = above + name
    if (!isObject(value)) flat[path] = value
    else if (path.length < COLLECT.propKeyBytes) flatten(value, `${path}.`, flat)
  }
}

/** Reads revenue. As in Umami, an amount without a currency is ignored. */
function revenueOf(data: unknown): Incoming["revenue"] {
  if (!isObject(data) || data.revenue === undefined || typeof data.currency !== "string") return undefined
  return { amount: data.revenue, currency: data.currency }
}
