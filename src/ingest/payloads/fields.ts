import type { Fault } from "../../domain/error.ts"
import { EVENT_ID } from "../../domain/event.ts"
import { COLLECT } from "../../domain/limits.ts"
import { normalizeUnicode } from "../../domain/text.ts"
import { byteLength, exceedsCharacters, isStorable, visible, withoutMissing } from "../request/text.ts"
import { hostnameOf, splitAddress, type WebAddress } from "../request/web-address.ts"

/** A JSON object as the client sent it. */
export type Body = Readonly<Record<string, unknown>>

/** A field of a payload: the name it was sent under, its value (`null` counts as absent), and the list that collects its faults. */
export interface Field {
  name: string
  value: unknown
  faults: Fault[]
}

const CONTROL = /\p{Cc}/u

export const isObject = (value: unknown): value is Body => typeof value === "object" && value !== null && !Array.isArray(value)

/** Parses JSON. Returns undefined when the text is not valid JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns a field under the first of its two names that was sent. */
export function field(body: Body, faults: Fault[], name: string, alias?: string): Field {
  const value = body[name] ?? undefined
  if (value !== undefined || alias === undefined || body[alias] === undefined) return { name, value, faults }
  return { name: alias, value: body[alias] ?? undefined, faults }
}

/** Adds a fault for a field. The detail never repeats the value that was sent. */
export function refuse({ name, faults }: Field, code: string, detail: string, allowed?: Fault["allowed"]): undefined {
  faults.push({ pointer: `/${name}`, code, detail: `${name} ${detail}.`, ...(allowed && { allowed }) })
  return undefined
}

export const refuseType = (target: Field, wanted: string): undefined => refuse(target, "invalid_type", `must be ${wanted}`)

/** Reads a text and refuses characters that cannot be stored. Returns "" when it is absent. */
export function readText(target: Field): string {
  const { value } = target
  if (value === undefined) return ""
  if (typeof value !== "string") return refuseType(target, "a string") ?? ""
  if (!isStorable(value)) return refuse(target, "invalid_characters", "contains characters that cannot be stored") ?? ""
  return value
}

/** Reads a text that is only shown to people. Characters that cannot be stored are replaced, so that a broken title does not lose a pageview. */
export function readLooseText(target: Field): string {
  const { value } = target
  if (value === undefined) return ""
  return typeof value === "string" ? value.toWellFormed() : (refuseType(target, "a string") ?? "")
}

/** Reads the event name, verbatim. A number is converted to text. */
export function readName(target: Field, refused: readonly string[]): string {
  const { value } = target
  if (value === undefined) return refuse(target, "required", "is required") ?? ""
  const name = typeof value === "number" ? String(value) : readText(target)
  if (name.trim() === "") refuseBlank(target)
  else if (exceedsCharacters(name, COLLECT.nameChars)) refuse(target, "too_long", `must have at most ${COLLECT.nameChars} characters`)
  else if (CONTROL.test(name)) refuse(target, "invalid_characters", "contains control characters")
  else if (refused.includes(name)) refuse(target, "invalid_choice", "is a reserved event name")
  return name
}

/** Refuses an empty text. A text that was read as "" because of another fault is not refused a second time. */
function refuseBlank(target: Field): undefined {
  return typeof target.value === "string" && target.value.trim() === "" ? refuse(target, "too_short", "must not be empty") : undefined
}

/** Reads the URL or path of the page. */
export function readAddress(target: Field): WebAddress {
  return addressFrom(target) ?? NO_ADDRESS
}

const NO_ADDRESS: WebAddress = { scheme: "", host: "", path: "", query: "", fragment: "" }

function addressFrom(target: Field): WebAddress | undefined {
  if (target.value === undefined) return refuse(target, "required", "is required")
  const text = readText(target).trim()
  if (text === "") return refuseBlank(target)
  if (text.length * 3 > COLLECT.urlBytes && byteLength(text) > COLLECT.urlBytes) {
    return refuse(target, "too_long", `must have at most ${COLLECT.urlBytes} bytes`)
  }
  return checkedAddress(text) ?? refuse(target, "invalid_url", "must be a URL or a path")
}

function checkedAddress(text: string): WebAddress | undefined {
  const address = splitAddress(text)
  if (address.scheme === "data") return undefined
  if (address.host === "") return address.scheme === "http" || address.scheme === "https" ? undefined : address
  const host = hostnameOf(address.host)
  if (host === undefined) return undefined
  const { scheme, path, query, fragment } = address
  return { scheme, host, path, query, fragment }
}

export function readBoolean(target: Field, absent: boolean): boolean {
  if (target.value === undefined) return absent
  return typeof target.value === "boolean" ? target.value : (refuseType(target, "true or false") ?? absent)
}

/** Reads a number and drops its fraction. Returns undefined when it is absent. */
export function readNumber(target: Field): number | undefined {
  const { value } = target
  if (value === undefined) return undefined
  return typeof value === "number" ? Math.trunc(value) : refuseType(target, "a number")
}

export function readEventId(target: Field): string {
  const id = readText(target)
  if (typeof target.value === "string" && !EVENT_ID.test(id))
    refuse(target, "invalid_characters", "must have 8 to 64 characters: letters, digits, - or _")
  return id
}

export function readUserId(target: Field): string {
  const id = typeof target.value === "number" ? String(target.value) : readText(target)
  if (target.value === "") refuse(target, "too_short", "must not be empty")
  if (exceedsCharacters(id, COLLECT.userIdChars)) refuse(target, "too_long", `must have at most ${COLLECT.userIdChars} characters`)
  return id
}

export interface Props {
  pairs: (readonly [key: string, value: string])[]
  /** Whether some were left out because an event cannot have more. */
  discarded: boolean
}

const NONE: Props = { pairs: [], discarded: false }

/** Reads the properties of a browser event. Values without a text form and properties beyond the limit are left out. */
export function readProps(target: Field): Props {
  const { value } = target
  if (value === undefined) return NONE
  const sent = typeof value === "string" ? parseJson(value) : value
  if (!isObject(sent)) return { pairs: [], discarded: true }
  const pairs = Object.keys(sent).flatMap((key) => pairOf(target, key, sent[key]))
  return pairs.length > COLLECT.props ? { pairs: pairs.slice(0, COLLECT.props), discarded: true } : { pairs, discarded: false }
}

/** Reads the properties of a server event and refuses invalid ones. A property that is null counts as absent. */
export function readStrictProps(target: Field): Props {
  const { value } = target
  if (value === undefined) return NONE
  if (!isObject(value)) return refuseType(target, "an object") ?? NONE
  const keys = Object.keys(value).filter((key) => value[key] !== null)
  if (keys.length > COLLECT.props) refuse(target, "too_many_properties", `must have at most ${COLLECT.props} properties`)
  if (keys.some((key) => !isScalar(value[key]))) refuseType(target, "an object of strings, numbers and booleans")
  return { pairs: keys.slice(0, COLLECT.props).flatMap((key) => pairOf(target, key, value[key])), discarded: false }
}

const isScalar = (value: unknown) => typeof value === "string" || typeof value === "number" || typeof value === "boolean"

/** Returns the pair of a property, or none for objects, lists, null and empty texts. */
function pairOf(target: Field, key: string, value: unknown): Props["pairs"] {
  if (!isScalar(value)) return []
  const text = withoutMissing(String(value))
  const fault = pairFault(key, text)
  if (fault === "empty") return []
  if (fault) refuse(target, ...REFUSALS[fault])
  return [[key, text]]
}

type PairFault = "empty" | "long_key" | "long_value" | "invalid_characters"

const REFUSALS: Record<Exclude<PairFault, "empty">, readonly [code: string, detail: string]> = {
  long_key: ["too_long", `must have keys of at most ${COLLECT.propKeyBytes} bytes`],
  long_value: ["too_long", `must have values of at most ${COLLECT.propValueBytes} bytes`],
  invalid_characters: ["invalid_characters", "contains characters that cannot be stored"],
}

/** Returns why a key and value are not a valid property, or undefined when they are. Holds for clients and for plugins. */
export function pairFault(key: string, text: string): PairFault | undefined {
  if (key === "" || text === "") return "empty"
  if (byteLength(key) > COLLECT.propKeyBytes) return "long_key"
  if (byteLength(text) > COLLECT.propValueBytes) return "long_value"
  return visible(key) === normalizeUnicode(key) && isStorable(text) ? undefined : "invalid_characters"
}
