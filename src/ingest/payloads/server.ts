import type { Fault } from "../../domain/error.ts"
import { REFUSED_NAMES } from "../../domain/event.ts"
import { COLLECT } from "../../domain/limits.ts"
import { parseInstant } from "../../domain/moment.ts"
import { type ClientAddress, readAddress as readIp } from "../client-address.ts"
import { cutBytes, cutCharacters } from "../text.ts"
import {
  type Field,
  field,
  isObject,
  readAddress,
  readBoolean,
  readEventId,
  readLooseText,
  readName,
  readText,
  readUserId,
  refuse,
  refuseType,
} from "./fields.ts"
import type { Incoming } from "./incoming.ts"
import { readStrictProps } from "./props.ts"

/** An event a site's own server sends (api.md section 9), with what only such a sender is believed. */
export interface ServerEvent {
  incoming: Incoming
  /** Epoch ms; undefined is now. */
  timestamp: number | undefined
  ip: ClientAddress | undefined
  /** "" when not given. */
  userAgent: string
}

const FIELDS = new Set([
  "name",
  "url",
  "id",
  "timestamp",
  "referrer",
  "title",
  "ip",
  "user_agent",
  "language",
  "user_id",
  "interactive",
  "props",
  "revenue",
])
const LATEST_MS = 8.64e15

/** Either the event or its first fault. */
export function readServerEvent(sent: unknown): ServerEvent | Fault {
  if (!isObject(sent)) return { pointer: "", code: "invalid_type", detail: "An event must be an object." }
  const faults: Fault[] = []
  const of = (name: string): Field => field(sent, faults, name)
  // The first is enough: a hostile event has thousands.
  const stranger = Object.keys(sent).find((name) => !FIELDS.has(name))
  if (stranger !== undefined) refuse({ ...of(stranger), name: "event" }, "unknown_field", "has a field that does not exist")
  const name = typeof sent.name === "number" ? (refuseType(of("name"), "a text") ?? "") : readName(of("name"), REFUSED_NAMES)
  const address = readAddress(of("url"))
  const incoming = {
    name,
    address,
    named: [],
    id: readEventId(of("id")),
    referrer: cutBytes(readLooseText(of("referrer")), COLLECT.referrerBytes),
    title: readLooseText(of("title")),
    language: readText(of("language")),
    userId: typeof sent.user_id === "number" ? (refuseType(of("user_id"), "a text") ?? "") : readUserId(of("user_id")),
    interactive: readBoolean(of("interactive"), true),
    props: readStrictProps(of("props")).pairs,
    revenue: readRevenue(of("revenue")),
    ...NOTHING_OF_A_BROWSER,
  }
  const rest = {
    timestamp: readTimestamp(of("timestamp")),
    ip: readClientIp(of("ip")),
    userAgent: cutCharacters(readLooseText(of("user_agent")), COLLECT.userAgentChars),
  }
  return faults[0] ?? { incoming, ...rest }
}

const NOTHING_OF_A_BROWSER = {
  propsDiscarded: false,
  engagement: undefined,
  vitals: undefined,
  hash: false,
  timezone: "",
  width: undefined,
  deviceId: "",
  ageMs: 0,
}

function readTimestamp(target: Field): number | undefined {
  const { value } = target
  if (value === undefined) return undefined
  const at = typeof value === "string" ? parseInstant(value) : value
  if (typeof at === "number" && Number.isInteger(at) && Math.abs(at) <= LATEST_MS) return at
  return refuse(target, "invalid_timestamp", "must be an RFC 3339 time or epoch milliseconds")
}

function readClientIp(target: Field): ClientAddress | undefined {
  if (target.value === undefined) return undefined
  const text = readText(target)
  return text === "" && typeof target.value !== "string" ? undefined : (readIp(text) ?? refuseType(target, "an IPv4 or IPv6 address"))
}

function readRevenue(target: Field): Incoming["revenue"] {
  const { value } = target
  if (value === undefined) return undefined
  if (!isObject(value)) return refuseType(target, "an object")
  if (Object.keys(value).some((key) => key !== "amount" && key !== "currency"))
    refuse(target, "unknown_field", "holds amount and currency only")
  if (value.amount === undefined) refuse(target, "required", "needs an amount")
  return { amount: value.amount, currency: value.currency ?? undefined }
}
