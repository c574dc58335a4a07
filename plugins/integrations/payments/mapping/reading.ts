/** Reads the fields that a mapping needs from the body of a provider. Everything else in it is ignored. */
import { currencyDecimals, isClean, isObject, MAX_AMOUNT_MINOR, parseAmount, parseCurrency, parseInstant } from "#plugin"

export type Json = Readonly<Record<string, unknown>>

/** The refusal of an event that should report a payment but cannot be understood. Its message never contains a value of the event. */
export class Unmappable extends Error {}

const NOTHING: Json = {}

/** Returns the object in a field, or an empty one. */
export const objectIn = (of: Json, name: string): Json => (isObject(of[name]) ? of[name] : NOTHING)

/** Returns the objects of a list. Everything else in it is left out. */
export const listIn = (of: Json, name: string): Json[] => (Array.isArray(of[name]) ? of[name].filter(isObject) : [])

/** Returns an id or another short text. Shops send numbers as ids. Undefined for anything else and for the empty text. */
export function textIn(of: Json, name: string): string | undefined {
  const value = of[name]
  const text = typeof value === "number" && Number.isSafeInteger(value) ? String(value) : typeof value === "string" ? value.trim() : ""
  return text === "" ? undefined : text
}

/** Returns the entry of a table under a name from a provider. Names that every object has, such as `constructor`, have none. */
export const entryOf = <Entry>(table: Readonly<Record<string, Entry>>, name: string | undefined): Entry | undefined =>
  name !== undefined && Object.hasOwn(table, name) ? table[name] : undefined

/** Returns an id that a provider sends either alone or as the whole object. */
export const idIn = (of: Json, name: string): string | undefined => (isObject(of[name]) ? textIn(of[name], "id") : textIn(of, name))

/** Returns an id without which the event has no meaning. */
export function requiredId(of: Json, name: string): string {
  const id = idIn(of, name)
  if (id === undefined) throw new Unmappable(`The field ${name} is missing.`)
  return id
}

export function currencyIn(of: Json, name: string): string {
  const currency = parseCurrency(textIn(of, name) ?? "")
  if (currency === undefined) throw new Unmappable(`The field ${name} is not an active ISO 4217 code.`)
  return currency
}

/** Returns an amount that a provider states in minor units, as a whole number or as its digits. */
export function minorIn(of: Json, name: string): number {
  const value = of[name]
  const minor = typeof value === "string" && /^-?\d{1,16}$/.test(value) ? Number(value) : value
  if (typeof minor !== "number" || !Number.isSafeInteger(minor)) throw new Unmappable(`The field ${name} is not a whole number.`)
  return minor
}

/** Returns an amount that a provider states in major units as decimal text, in minor units. */
export function majorIn(of: Json, name: string, currency: string): number {
  const minor = parseAmount(of[name], currencyDecimals(currency)!) // the currency is an active one
  if (typeof minor !== "number") throw new Unmappable(`The field ${name} is not an amount in ${currency}.`)
  return minor
}

/** Returns an amount that adds detail to a payment. A missing or strange one is 0: the payment itself still counts. */
export function detailIn(read: () => number): number {
  try {
    return Math.max(0, read())
  } catch (error) {
    if (error instanceof Unmappable) return 0
    throw error
  }
}

/** Returns a time in seconds since 1970 as RFC 3339 in UTC. */
export function secondsAsTime(of: Json, name: string): string {
  const seconds = of[name]
  if (typeof seconds !== "number" || !Number.isSafeInteger(seconds) || seconds < 0 || seconds > 1e11)
    throw new Unmappable(`The field ${name} is not a time in seconds.`)
  return new Date(seconds * 1_000).toISOString()
}

/** Returns the first of some times as RFC 3339 in UTC. `zone` is added to times without an offset. */
export function timeIn(of: Json, names: readonly string[], zone = ""): string {
  const text = names.map((name) => textIn(of, name)).find((found) => found !== undefined)
  const at = parseInstant((text ?? "") + zone)
  if (at === undefined) throw new Unmappable(`The field ${names.at(-1)} is not a time.`)
  return new Date(at).toISOString()
}

/** Returns the value of a name in a list of names and values, as shops keep a buyer's details. */
export function namedValue(pairs: readonly Json[], key: "key" | "name", wanted: string): string | undefined {
  const pair = pairs.find((each) => each[key] === wanted)
  return pair && textIn(pair, "value")
}

const MAX_ITEM_TEXT = 200
const MAX_ITEMS = 100

interface Item {
  sku?: string
  name?: string
  quantity: number
  total_minor: number
}

interface ItemFields {
  sku?: string | undefined
  name?: string | undefined
  total: number
}

/** Returns line items of a payment. One that cannot be understood is left out. */
export function itemsOf(lines: readonly Json[], read: (line: Json) => ItemFields): { items?: Item[] } {
  const items = lines.slice(0, MAX_ITEMS).flatMap((line): Item[] => {
    const { quantity } = line
    if (typeof quantity !== "number" || !Number.isSafeInteger(quantity) || quantity < 1 || quantity > 1_000_000) return []
    try {
      const { sku, name, total } = read(line)
      if (Math.abs(total) > MAX_AMOUNT_MINOR) return []
      return [{ ...(sku && { sku: cut(sku) }), ...(name && { name: cut(name) }), quantity, total_minor: total }]
    } catch (error) {
      if (error instanceof Unmappable) return []
      throw error
    }
  })
  return items.length > 0 ? { items } : {}
}

/** Returns the beginning of a name. One with control characters is left out. */
const cut = (text: string): string => (isClean(text) ? [...text].slice(0, MAX_ITEM_TEXT).join("").trim() : "")

/** Returns the other ids of a payment: distinct, and without the one that identifies it. */
export const aliasesOf = (externalId: string, others: readonly (string | undefined)[]): string[] => [
  ...new Set(others.filter((id): id is string => id !== undefined && id !== externalId)),
]
