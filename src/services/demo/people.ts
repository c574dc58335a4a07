import { type Random, seededRandom } from "./random.ts"

/** A visitor as seen by a server. The addresses are from the ranges reserved for documentation and benchmarks. */
export interface Person {
  address: string
  userAgent: string
  timezone: string
  language: string
  /** Width of the screen in px. */
  width: number
  /** Offset from UTC in hours, for the time of day. Daylight saving time is ignored. */
  offset: number
  /** Whether the visitor uses a phone: visits are shorter, and more of them are in the evening. */
  mobile: boolean
}

/** Returns the person with a number, which is always the same for the same seed. Computed on each call, so that people need no memory. */
export function personOf(seed: number, number: number): Person {
  const random = seededRandom(Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(number + 1, 0xc2b2ae35))
  random.next()
  const [timezone, language, offset] = random.weighted(HOMES)
  const [userAgent, widths, mobile] = random.weighted(DEVICES)
  return { address: addressOf(random), userAgent, timezone, language, width: random.pick(widths), offset, mobile }
}

/** Returns an address: IPv6 for a third of the people, where the first 64 bits identify the household. */
function addressOf(random: Random): string {
  if (random.chance(0.33)) return `2001:db8:${random.below(65_536).toString(16)}:${random.below(65_536).toString(16)}::1`
  return `198.${18 + random.below(2)}.${random.below(256)}.${1 + random.below(254)}`
}

const HOMES: readonly (readonly [number, readonly [timezone: string, language: string, offset: number]])[] = [
  [28, ["Europe/Berlin", "de-DE", 1]],
  [14, ["America/New_York", "en-US", -5]],
  [8, ["America/Los_Angeles", "en-US", -8]],
  [9, ["Europe/London", "en-GB", 0]],
  [7, ["Europe/Paris", "fr-FR", 1]],
  [5, ["Europe/Vienna", "de-AT", 1]],
  [5, ["Europe/Zurich", "de-CH", 1]],
  [4, ["Europe/Amsterdam", "nl-NL", 1]],
  [3, ["Europe/Warsaw", "pl-PL", 1]],
  [3, ["Europe/Madrid", "es-ES", 1]],
  [3, ["Asia/Kolkata", "en-IN", 5.5]],
  [3, ["America/Sao_Paulo", "pt-BR", -3]],
  [2, ["Asia/Tokyo", "ja-JP", 9]],
  [2, ["Australia/Sydney", "en-AU", 10]],
  [2, ["America/Toronto", "en-CA", -5]],
  [1, ["Asia/Kathmandu", "ne-NP", 5.75]],
  [1, ["Africa/Lagos", "en-NG", 1]],
]

const DESKTOP = [1280, 1366, 1440, 1536, 1920, 2560]
const PHONE = [360, 375, 390, 393, 412, 430]

const DEVICES: readonly (readonly [number, readonly [userAgent: string, widths: readonly number[], mobile: boolean]])[] = [
  [26, ["Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36", DESKTOP, false]],
  [
    6,
    [
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0",
      DESKTOP,
      false,
    ],
  ],
  [6, ["Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0", DESKTOP, false]],
  [
    9,
    [
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15",
      DESKTOP,
      false,
    ],
  ],
  [
    7,
    [
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
      DESKTOP,
      false,
    ],
  ],
  [3, ["Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0", DESKTOP, false]],
  [
    22,
    [
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1",
      PHONE,
      true,
    ],
  ],
  [17, ["Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36", PHONE, true]],
  [
    3,
    [
      "Mozilla/5.0 (Linux; Android 14; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36",
      PHONE,
      true,
    ],
  ],
  [
    3,
    [
      "Mozilla/5.0 (iPad; CPU OS 17_7 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.7 Mobile/15E148 Safari/604.1",
      [768, 820, 1024],
      false,
    ],
  ],
]
