import type { Fault } from "../../domain/error.ts"
import { REFUSED_NAMES } from "../../domain/event.ts"
import { COLLECT } from "../../domain/limits.ts"
import { parseInstant } from "../../domain/moment.ts"
import { type ClientAddress, readAddress as readIp } from "../address/client-address.ts"
import { cutBytes, cutCharacters } from "../request/text.ts"
import {
  type Field,
  field,
  isObject,
  readAddress,
  readBoolean,
  readEventId,
  readLooseText,
  readName,
  readStrictProps,
  readText,
  readUserId,
  refuse,
  refuseType,
} from "./fields.ts"
import type { Incoming } from "./incoming.ts"

/** An event from a site's own server (api.md section 9), with the values that only an authenticated server may set. */
export interface ServerEvent {
  incoming: Incoming
  /** Epoch ms. Undefined means now. */
  timestamp: number | undefined
  ip: ClientAddress | undefined
  /** "" when missing. */
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
const MAX_TIMESTAMP_MS = 8.64e15

/** Reads a server event. Returns its first fault when it is invalid. */
export function readServerEvent(sent: unknown): ServerEvent | Fault {
  if (!isObject(sent)) return { pointer: "", code: "invalid_type", detail: "An event must be an object." }
  const faults: Fault[] = []
  const of = (name: string): Field => field(sent, faults, name)
  // Only the first unknown field is reported, because a hostile event can have thousands.
  const unknown = Object.keys(sent).find((name) => !FIELDS.has(name))
  if (unknown !== undefined) refuse({ ...of(unknown), name: "event" }, "unknown_field", "has an unknown field")
  const name = typeof sent.name === "number" ? (refuseType(of("name"), "a string") ?? "") : readName(of("name"), REFUSED_NAMES)
  const address = readAddress(of("url"))
  const incoming = {
    name,
    address,
    named: [],
    id: readEventId(of("id")),
    referrer: cutBytes(readLooseText(of("referrer")), COLLECT.referrerBytes),
    title: readLooseText(of("title")),
    language: readText(of("language")),
    userId: typeof sent.user_id === "number" ? (refuseType(of("user_id"), "a string") ?? "") : readUserId(of("user_id")),
    interactive: readBoolean(of("interactive"), true),
    props: readStrictProps(of("props")).pairs,
    revenue: readRevenue(of("revenue")),
    ...NO_BROWSER_VALUES,
  }
  const rest = {
    timestamp: readTimestamp(of("timestamp")),
    ip: readClientIp(of("ip")),
    userAgent: cutCharacters(readLooseText(of("user_agent")), COLLECT.userAgentChars),
  }
  return faults[0] ?? { incoming, ...rest }
}

const NO_BROWSER_VALUES = {
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
  if (typeof at === "number" && Number.isInteger(at) && Math.abs(at) <= MAX_TIMESTAMP_MS) return at
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
    refuse(target, "unknown_field", "can only have amount and currency")
  if (value.amount === undefined || value.amount === null) refuse(target, "required", "must have an amount")
  return { amount: value.amount, currency: value.currency ?? undefined }
}
