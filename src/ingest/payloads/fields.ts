import type { Fault } from "../../domain/error.ts"
import { EVENT_ID } from "../../domain/event.ts"
import { COLLECT } from "../../domain/limits.ts"
import { byteLength, exceedsCharacters, isStorable } from "../text.ts"
import { hostnameOf, splitAddress, type WebAddress } from "../web-address.ts"

/** A JSON object as it was sent. */
export type Body = Readonly<Record<string, unknown>>

/** One field: the name it was sent under, its value, and where faults are gathered. `null` is absent. */
export interface Field {
  name: string
  value: unknown
  faults: Fault[]
}

const CONTROL = /\p{Cc}/u

export const isObject = (value: unknown): value is Body => typeof value === "object" && value !== null && !Array.isArray(value)

/** Text as JSON; undefined when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The first of a field's names that was sent. */
export function field(body: Body, faults: Fault[], name: string, alias?: string): Field {
  const value = body[name] ?? undefined
  if (value !== undefined || alias === undefined || body[alias] === undefined) return { name, value, faults }
  return { name: alias, value: body[alias] ?? undefined, faults }
}

/** Notes what is wrong with a field. Details never repeat what was sent. */
export function refuse({ name, faults }: Field, code: string, detail: string, allowed?: Fault["allowed"]): undefined {
  faults.push({ pointer: `/${name}`, code, detail: `${name} ${detail}.`, ...(allowed && { allowed }) })
  return undefined
}

export const refuseType = (target: Field, wanted: string): undefined => refuse(target, "invalid_type", `must be ${wanted}`)

/** A text that can be stored; "" when absent. */
export function readText(target: Field): string {
  const { value } = target
  if (value === undefined) return ""
  if (typeof value !== "string") return refuseType(target, "a text") ?? ""
  if (!isStorable(value)) return refuse(target, "invalid_characters", "holds characters that cannot be stored") ?? ""
  return value
}

/** A text only shown to people: what cannot be stored is replaced, so that half a character in a title loses no view. */
export function readLooseText(target: Field): string {
  const { value } = target
  if (value === undefined) return ""
  return typeof value === "string" ? value.toWellFormed() : (refuseType(target, "a text") ?? "")
}

/** The event's name, verbatim; a number is turned into text. */
export function readName(target: Field, refused: readonly string[]): string {
  const { value } = target
  if (value === undefined) return refuse(target, "required", "is required") ?? ""
  const name = typeof value === "number" ? String(value) : readText(target)
  if (name.trim() === "") refuseBlank(target)
  else if (exceedsCharacters(name, COLLECT.nameChars)) refuse(target, "too_long", `has at most ${COLLECT.nameChars} characters`)
  else if (CONTROL.test(name)) refuse(target, "invalid_characters", "holds control characters")
  else if (refused.includes(name)) refuse(target, "invalid_choice", "is a name that cannot be sent")
  return name
}

/** A text that was read as "" because of another fault is not refused twice. */
function refuseBlank(target: Field): undefined {
  return typeof target.value === "string" && target.value.trim() === "" ? refuse(target, "too_short", "must not be empty") : undefined
}

/** The page's URL or path. */
export function readAddress(target: Field): WebAddress {
  return addressFrom(target) ?? NO_ADDRESS
}

const NO_ADDRESS: WebAddress = { scheme: "", host: "", path: "", query: "", fragment: "" }

function addressFrom(target: Field): WebAddress | undefined {
  if (target.value === undefined) return refuse(target, "required", "is required")
  const text = readText(target).trim()
  if (text === "") return refuseBlank(target)
  if (text.length * 3 > COLLECT.urlBytes && byteLength(text) > COLLECT.urlBytes) {
    return refuse(target, "too_long", `has at most ${COLLECT.urlBytes} bytes`)
  }
  return checkedAddress(text) ?? refuse(target, "invalid_url", "must be an address or a path")
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

/** A number without its fraction; undefined when absent. */
export function readNumber(target: Field): number | undefined {
  const { value } = target
  if (value === undefined) return undefined
  return typeof value === "number" ? Math.trunc(value) : refuseType(target, "a number")
}

export function readEventId(target: Field): string {
  const id = readText(target)
  if (typeof target.value === "string" && !EVENT_ID.test(id)) refuse(target, "invalid_characters", "has 8 to 64 letters, digits, - or _")
  return id
}

export function readUserId(target: Field): string {
  const id = typeof target.value === "number" ? String(target.value) : readText(target)
  if (target.value === "") refuse(target, "too_short", "must not be empty")
  if (exceedsCharacters(id, COLLECT.userIdChars)) refuse(target, "too_long", `has at most ${COLLECT.userIdChars} characters`)
  return id
}
