import { type ClientAddress, readRange } from "./client-address.ts"

/** Address ranges of an operator's file, up to hundreds of thousands, which are searched for every request. */
export interface AddressList {
  has(address: ClientAddress): boolean
}

/**
 * Parses a list with one address or range per line. Empty lines, comments after `#` and further CSV columns are ignored, because
 * published lists contain them. Throws, with the line number, for an invalid entry.
 */
export function parseAddressList(text: string): AddressList {
  const spans: Span[] = []
  text.split(/\r?\n/).forEach((line, index) => {
    const entry = line.split("#", 1)[0]!.split(",", 1)[0]!.trim()
    if (entry === "") return
    const range = readRange(entry)
    if (!range) throw noRange(index + 1, line.trim())
    spans.push(spanOf(range))
  })
  const four = tableOf(spans, 4)
  const six = tableOf(spans, 16)
  return { has: ({ bytes }) => isIn(bytes.length === 4 ? four : six, bytes) }
}

const noRange = (line: number, text: string) =>
  new Error(`line ${line}: ${JSON.stringify(text.slice(0, 60))} is not an address or range such as 192.0.2.0/24 or 2001:db8::/32`)

/** The first and the last address of a range. */
interface Span {
  first: Uint8Array
  last: Uint8Array
}

function spanOf({ base, bits }: { base: Uint8Array; bits: number }): Span {
  const hostBits = (at: number): number => 0xff >> Math.min(8, Math.max(0, bits - at * 8))
  return { first: base.map((byte, at) => byte & ~hostBits(at)), last: base.map((byte, at) => byte | hostBits(at)) }
}

/** Concatenated spans, ascending and without overlaps. Only the last one that begins before an address can contain it. */
interface RangeTable {
  count: number
  width: number
  first: Uint8Array
  last: Uint8Array
}

function tableOf(spans: readonly Span[], width: number): RangeTable {
  const kept: Span[] = []
  for (const span of spans.filter(({ first }) => first.length === width).sort((a, b) => compareAt(a.first, 0, b.first))) {
    const before = kept.at(-1)
    if (before === undefined || compareAt(span.first, 0, before.last) > 0) kept.push({ ...span })
    else if (compareAt(span.last, 0, before.last) > 0) before.last = span.last
  }
  const joined = (bytes: readonly Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(bytes))
  return { count: kept.length, width, first: joined(kept.map(({ first }) => first)), last: joined(kept.map(({ last }) => last)) }
}

function isIn({ count, width, first, last }: RangeTable, address: Uint8Array): boolean {
  let [low, high] = [0, count]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compareAt(first, middle * width, address) <= 0) low = middle + 1
    else high = middle
  }
  return low > 0 && compareAt(last, (low - 1) * width, address) >= 0
}

/** Compares the address at a position of a table with another one: negative, 0 or positive. Allocates nothing. */
function compareAt(table: Uint8Array, from: number, address: Uint8Array): number {
  for (let at = 0; at < address.length; at++) {
    const difference = table[from + at]! - address[at]!
    if (difference !== 0) return difference
  }
  return 0
}
