/**
 * What a transaction keeps of its visit and of the touches before it, as the texts of two columns. Both are arrays without the names of their
 * values, which would take more than the values. Objects with names, which earlier versions wrote, are still read.
 */
import type { TransactionRow } from "./transaction.ts"

/** The dimensions of the visit and the name of the event by their place in `dims_json`, the usual ones first. Further ones go to the end. */
const DIMENSIONS = [
  ...(["event", "entry_page", "hostname", "source", "channel", "country", "region", "city", "device", "browser"] as const),
  ...(["os", "language", "referrer", "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"] as const),
] as const

/** The dimensions of a touch by their place in `touches_json`, after its start and the sequence of its visit. Further ones go to the end. */
export const TOUCH_DIMENSIONS = [
  ...(["source", "channel", "entry_page", "referrer", "utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"] as const),
] as const

/** Texts by name, without the missing ones. */
type Texts<Name extends string> = Partial<Record<Name, string>>
/** The same before they are written, where "" is a missing one. */
type WrittenTexts<Name extends string> = Readonly<{ [Key in Name]?: string | undefined }>

export type Dimensions = Readonly<Texts<(typeof DIMENSIONS)[number]>>

/** A touch: its start, the sequence of its visit, and its dimensions. A direct one has no `source`. */
export type FrozenTouch = Texts<(typeof TOUCH_DIMENSIONS)[number]> & { at: number; sequence: number }

export const dimensionsText = (dimensions: WrittenTexts<(typeof DIMENSIONS)[number]>): string =>
  JSON.stringify(listOf(dimensions, DIMENSIONS))

export function dimensionsOf({ dims_json }: Pick<TransactionRow, "dims_json">): Dimensions {
  const stored = JSON.parse(dims_json) as string[] | Dimensions // written by `dimensionsText`, or before it
  return Array.isArray(stored) ? named(stored, DIMENSIONS) : stored
}

export const touchesText = (touches: readonly FrozenTouch[]): string =>
  JSON.stringify(touches.map((touch) => [touch.at, touch.sequence, ...listOf(touch, TOUCH_DIMENSIONS)]))

export function touchesOf({ touches_json }: Pick<TransactionRow, "touches_json">): FrozenTouch[] {
  if (touches_json === "[]") return []
  const stored = JSON.parse(touches_json) as (StoredTouch | FrozenTouch)[] // written by `touchesText`, or before it
  return stored.map((touch) => {
    if (!Array.isArray(touch)) return touch
    const [at, sequence, ...texts] = touch
    return Object.assign(named(texts, TOUCH_DIMENSIONS), { at, sequence })
  })
}

type StoredTouch = [at: number, sequence: number, ...texts: string[]]

/** Returns texts in the order of their names, without the missing ones at the end. */
function listOf<Name extends string>(texts: WrittenTexts<Name>, names: readonly Name[]): string[] {
  const list: string[] = []
  let length = 0
  for (const name of names) {
    const text = texts[name] ?? ""
    list.push(text)
    if (text !== "") length = list.length
  }
  list.length = length
  return list
}

function named<Name extends string>(list: readonly string[], names: readonly Name[]): Texts<Name> {
  const texts: Texts<Name> = {}
  for (let at = 0; at < list.length; at++) if (list[at] !== "") texts[names[at]!] = list[at]!
  return texts
}
