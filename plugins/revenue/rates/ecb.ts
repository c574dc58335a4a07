import { parseCurrency, parseDay } from "#plugin"
import { parseRate } from "./rate.ts"
import type { NewRate } from "./rate-input.ts"

const DAY = /<Cube\s+time=['"]([^'"]+)['"]\s*>([\s\S]*?)<\/Cube>/g
const RATE = /<Cube\s+currency=['"]([A-Z]{3})['"]\s+rate=['"]([^'"]+)['"]\s*\/>/g

/**
 * Reads the file of reference rates of the European Central Bank: the price of one euro, by day. Its form has been the same since 1999.
 * Currencies that are no longer active are left out. Returns no rates for any other file.
 */
export function readEcbFile(text: string): NewRate[] {
  return [...text.matchAll(DAY)].flatMap(([, time = "", cubes = ""]) => {
    const day = parseDay(time)
    if (!day) return []
    return [...cubes.matchAll(RATE)].flatMap(([, code = "", price]) => {
      const [quote, rate] = [parseCurrency(code), parseRate(price)]
      return quote === undefined || rate === undefined ? [] : [{ day: day.toString(), base: "EUR", quote, rate }]
    })
  })
}
