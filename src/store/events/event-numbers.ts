/** Events and traits with dictionary numbers instead of texts. */
import type { DictionaryName } from "../../domain/dimension.ts"
import type { NewEvent, Vitals } from "../../domain/event.ts"
import { TRAITS, type VisitTraits } from "../../domain/visit.ts"
import { DISCARDED } from "./dictionary/interner.ts"
import { propertyDictionary } from "./dictionary/texts.ts"
import { NO_SCROLL, NO_VITAL } from "./part.ts"
import type { TailEvent } from "./tail/rows.ts"

/** Returns the number of a text in a dictionary. For the value of a property, `property` is its key. */
export type NumberText = (name: DictionaryName, text: string, property?: string) => number

/** Returns the numbers of traits, in the order of `TRAITS`. */
export function numberedTraits(traits: VisitTraits, number: NumberText): number[] {
  const numbers = new Array<number>(TRAITS.length).fill(0)
  for (let at = 0; at < numbers.length; at++) {
    const trait = TRAITS[at]!
    const text = traits[trait]
    // Most traits of most visits are missing.
    if (text !== "") numbers[at] = number(trait, text)
  }
  return numbers
}

/** Returns an event in the form of the log. `props` are the numbers of its properties. */
export function numberedEvent(
  event: NewEvent,
  sequence: number,
  number: NumberText,
  props: readonly number[] = numberedProps(event.props, number),
): TailEvent {
  const { revenue, engagement, vitals } = event
  return {
    at: event.at,
    sequence,
    name: number("name", event.name),
    page: number("page", event.page),
    hostname: number("hostname", event.hostname),
    title: number("title", event.title),
    interactive: event.interactive ? 1 : 0,
    props,
    revenue: revenue && { amount: revenue.amount, currency: number("currency", revenue.currency) },
    engagement: engagement && { engaged: engagement.engagedMs, scroll: engagement.scrollDepth ?? NO_SCROLL },
    vitals: vitals && vitalNumbers(vitals),
  }
}

const NO_PROPS: readonly number[] = []

/** Returns the numbers of properties: of each key, then of its value. */
export function numberedProps(props: NewEvent["props"], number: NumberText): readonly number[] {
  if (props.length === 0) return NO_PROPS
  const numbers: number[] = []
  for (const [key, value] of props) {
    const keyNumber = number("property", key)
    if (keyNumber === DISCARDED) continue
    numbers.push(keyNumber, number(propertyDictionary(keyNumber), value, key))
  }
  return numbers
}

const vitalNumbers = ({ lcp, inp, fcp, ttfb, cls }: Vitals): number[] => [
  lcp ?? NO_VITAL,
  inp ?? NO_VITAL,
  fcp ?? NO_VITAL,
  ttfb ?? NO_VITAL,
  cls === undefined ? NO_VITAL : Math.round(cls * 1000),
]
