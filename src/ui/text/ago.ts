import { locale } from "./format.ts"
import { memoize } from "./memoize.ts"

const wordsIn = memoize((locale: string) => new Intl.RelativeTimeFormat(locale, { numeric: "auto" }))

/** Describes how long ago an instant was, in the largest whole unit. */
export function agoText(instant: string | number, now = Date.now()): string {
  const seconds = Math.round((new Date(instant).getTime() - now) / 1_000)
  const words = wordsIn(locale())
  for (const [unit, length] of [
    ["day", 86_400],
    ["hour", 3_600],
    ["minute", 60],
  ] as const)
    if (Math.abs(seconds) >= length) return words.format(Math.trunc(seconds / length), unit)
  return words.format(seconds, "second")
}
