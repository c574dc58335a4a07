import ipaddr from "ipaddr.js"

/** The IP address of a visitor. An IPv4-mapped IPv6 address is converted to IPv4. Must not outlive the request. */
export interface ClientAddress {
  /** 4 or 16. */
  bytes: Uint8Array
  text: string
}

/** Addresses and CIDR ranges. */
export interface AddressRanges {
  /** Returns the range that contains the address, as it was written. */
  find(address: ClientAddress): string | undefined
}

const DOT = 46
const COLON = 58
const ZERO = 48
const LETTER_A = 97
/** Set in a lower-case letter, not in its capital. */
const LOWER = 32

/** Reads an address as headers and operators write it, with brackets, port or zone. Returns undefined for anything else. */
export function readAddress(text: string): ClientAddress | undefined {
  const plain = withoutPort(text.trim())
  const quick = readFour(plain) ?? readSix(plain)
  if (quick) return quick
  // Only the dotted form of IPv4: the library also reads 0x7f.1 and 2130706433.
  if (!plain.includes(":") || !ipaddr.isValid(plain)) return undefined
  const parsed = ipaddr.process(plain.split("%")[0]!)
  return { bytes: Uint8Array.from(parsed.toByteArray()), text: parsed.toString() }
}

/** Reads an IPv4 address digit by digit, because nearly every address is one. */
function readFour(text: string): ClientAddress | undefined {
  if (text.length < 7 || text.length > 15) return undefined
  const bytes = new Uint8Array(4)
  let part = 0
  let digits = 0
  let value = 0
  for (let at = 0; at <= text.length; at++) {
    const code = at === text.length ? DOT : text.charCodeAt(at)
    if (code === DOT) {
      if (digits === 0 || part > 3) return undefined
      bytes[part++] = value
      digits = 0
      value = 0
    } else {
      const isLeadingZero = digits > 0 && value === 0
      value = value * 10 + code - ZERO
      if (code < ZERO || code > ZERO + 9 || isLeadingZero || value > 255) return undefined
      digits++
    }
  }
  return part === 4 ? { bytes, text } : undefined
}

/** Reads plain groups of hex digits with at most one `::`. Rarer forms are left to the library. */
function readSix(text: string): ClientAddress | undefined {
  if (text.length > 39) return undefined
  const gap = text.indexOf("::")
  const bytes = new Uint8Array(16)
  const front = putGroups(bytes, 0, text, 0, gap < 0 ? text.length : gap)
  if (gap < 0 ? front !== 8 : front < 0) return undefined
  if (gap >= 0) {
    const back = putGroups(bytes, front, text, gap + 2, text.length)
    if (back < 0 || front + back > 7) return undefined
    bytes.copyWithin(16 - back * 2, front * 2, (front + back) * 2)
    bytes.fill(0, front * 2, 16 - back * 2)
  }
  return isMapped(bytes) ? undefined : { bytes, text: text.toLowerCase() }
}

/** Writes the groups in a part of a text. Returns their number, or -1 when they are invalid or too many. */
function putGroups(bytes: Uint8Array, place: number, text: string, from: number, end: number): number {
  if (from === end) return 0
  let groups = 0
  let digits = 0
  let value = 0
  for (let at = from; at <= end; at++) {
    const code = at === end ? COLON : text.charCodeAt(at)
    if (code === COLON) {
      if (digits === 0 || place + groups > 7) return -1
      bytes[(place + groups) * 2] = value >> 8
      bytes[(place + groups) * 2 + 1] = value & 255
      groups++
      digits = 0
      value = 0
    } else {
      const digit = hexDigit(code)
      if (digit < 0 || ++digits > 4) return -1
      value = value * 16 + digit
    }
  }
  return groups
}

function hexDigit(code: number): number {
  if (code >= ZERO && code <= ZERO + 9) return code - ZERO
  const letter = (code | LOWER) - LETTER_A
  return letter >= 0 && letter < 6 ? letter + 10 : -1
}

/** Returns whether an address is IPv4-mapped and has to be converted. */
function isMapped(bytes: Uint8Array): boolean {
  for (let at = 0; at < 10; at++) if (bytes[at] !== 0) return false
  return bytes[10] === 0xff && bytes[11] === 0xff
}

function withoutPort(text: string): string {
  if (text.startsWith("[")) return text.slice(1, Math.max(1, text.indexOf("]")))
  const colon = text.indexOf(":")
  return colon > 0 && colon === text.lastIndexOf(":") ? text.slice(0, colon) : text
}

/** Returns whether a text is an address or a CIDR range. */
export const isRange = (text: string): boolean => readRange(text) !== undefined

/** Parses ranges once for the look-ups of every event. Entries that are neither address nor range are left out. */
export function addressRanges(entries: readonly string[]): AddressRanges {
  const ranges = entries.flatMap((entry) => readRange(entry) ?? [])
  return { find: (address) => ranges.find(({ base, bits }) => covers(base, bits, address.bytes))?.entry }
}

/** Reads an address or CIDR range, whose bits after the prefix may be set. Returns undefined for anything else. */
export function readRange(entry: string): { entry: string; base: Uint8Array; bits: number } | undefined {
  const [text = "", length] = entry.trim().split("/")
  const base = readAddress(text)
  if (!base) return undefined
  const width = base.bytes.length * 8
  // ::ffff:10.0.0.0/104 is 10.0.0.0/8.
  const mapped = text.includes(":") && width === 32 ? 96 : 0
  const bits = length === undefined ? width : Number(length) - mapped
  return Number.isInteger(bits) && bits >= 0 && bits <= width && length !== "" ? { entry, base: base.bytes, bits } : undefined
}

/** Returns whether every address of a range belongs to one of the ranges. */
export function isWithinRanges(entry: string, ranges: readonly string[]): boolean {
  const inner = readRange(entry)
  const outer = ranges.flatMap((range) => readRange(range) ?? [])
  return inner !== undefined && outer.some(({ base, bits }) => bits <= inner.bits && covers(base, bits, inner.base))
}

/** The trusted proxy of the latest request that had one, which nearly all others share. It is no visitor, so its address may outlive the request. */
let proxy: { peer: string | undefined; trusted: AddressRanges; address: ClientAddress } | undefined

function covers(base: Uint8Array, bits: number, address: Uint8Array): boolean {
  if (base.length !== address.length) return false
  const whole = bits >> 3
  for (let at = 0; at < whole; at++) if (base[at] !== address[at]) return false
  const rest = bits & 7
  return rest === 0 || (base[whole]! ^ address[whole]!) >> (8 - rest) === 0
}

/** The client of a request. `viaProxy`: the connection comes from a trusted proxy, whose headers count. */
export interface Client {
  address: ClientAddress | undefined
  viaProxy: boolean
}

/**
 * Returns the client behind trusted proxies (reliability.md section 8): the last address in `X-Forwarded-For` that is not trusted.
 * From a peer that is not trusted the header is ignored, and no other header counts.
 */
export function clientOf(peer: string | undefined, forwarded: string | null, trusted: AddressRanges): Client {
  const known = proxy?.peer === peer && proxy?.trusted === trusted ? proxy : undefined
  const connection = known?.address ?? (peer === undefined ? undefined : readAddress(peer))
  if (!connection || !(known || trusted.find(connection))) return { address: connection, viaProxy: false }
  if (!known) proxy = { peer, trusted, address: connection }
  let last = connection
  for (let end = forwarded?.length ?? 0; end > 0; ) {
    const comma = forwarded!.lastIndexOf(",", end - 1)
    const address = readAddress(forwarded!.slice(comma + 1, end))
    // Anything that is not an address ends the search, because the entries before it can be forged.
    if (!address) break
    last = address
    if (!trusted.find(address)) break
    end = comma
  }
  return { address: last, viaProxy: true }
}
