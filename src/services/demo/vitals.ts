import type { TrafficEvent } from "./data.ts"
import { seededRandom } from "./random.ts"

/** Kinds of pages by their load, which a product with its pictures makes heavier. */
const WEIGHTS: readonly (readonly [path: string, weight: number])[] = [
  ["/products", 1.5],
  ["/checkout", 1.2],
]

/**
 * Returns the web vitals of a page load, or undefined for page loads that are not measured, such as those of browsers without these
 * measures. Phones are slower than desktops, and distant visitors wait longer for the server. The same page load has the same values.
 */
export function vitalsOf({ client, person, url, at }: TrafficEvent): object | undefined {
  const random = seededRandom(person ^ at)
  if (random.chance(0.4)) return undefined
  const [, weight = 1] = WEIGHTS.find(([path]) => url.includes(path)) ?? []
  const spread = 0.6 + random.around(0.4 * 100) / 100
  const slow = (client.mobile ? 1.6 : 1) * weight * spread
  const ttfb = (180 + 40 * Math.abs(client.offset)) * spread
  const fcp = ttfb + 500 * slow
  return {
    ttfb: Math.round(ttfb),
    fcp: Math.round(fcp),
    lcp: Math.round(fcp + 600 * slow),
    cls: Math.round(60 * weight * random.next() ** 2 * (client.mobile ? 2 : 1)) / 1_000,
    // Not every visitor clicks or types.
    ...(random.chance(0.7) && { inp: Math.round(70 * slow) }),
  }
}
