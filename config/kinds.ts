import { resolve } from "node:path"
import ipaddr from "ipaddr.js"

/** A setting. `read` converts the value in a file, a variable or a flag, and returns undefined when it is not allowed. */
export interface Setting<Value> {
  read(given: unknown): Value | undefined
  default: Value
  /** The allowed form in words, for error messages. */
  form: string
  about: string
  secret: boolean
}

export function text(fallback: string, about: string): Setting<string>
export function text(fallback: undefined, about: string): Setting<string | undefined>
export function text(fallback: string | undefined, about: string): Setting<string | undefined> {
  return setting(fallback, about, "text", (given) => line(given))
}

export function integer(fallback: number, bounds: Bounds, about: string): Setting<number>
export function integer(fallback: undefined, bounds: Bounds, about: string): Setting<number | undefined>
export function integer(fallback: number | undefined, { min, max }: Bounds, about: string): Setting<number | undefined> {
  return setting(fallback, about, `a whole number from ${min} to ${max}`, (given) => {
    const value = typeof given === "string" && /^\d{1,15}$/.test(given) ? Number(given) : given
    return typeof value === "number" && Number.isInteger(value) && value >= min && value <= max ? value : undefined
  })
}
interface Bounds {
  min: number
  max: number
}

export const toggle = (fallback: boolean, about: string): Setting<boolean> =>
  setting(fallback, about, "a boolean (true, false, 1, 0)", (given) => ON_OFF.get(String(given)))

const ON_OFF = new Map([
  ["1", true],
  ["true", true],
  ["0", false],
  ["false", false],
])

export const choice = <const Choice extends string>(fallback: Choice, choices: readonly Choice[], about: string): Setting<Choice> =>
  setting(fallback, about, `one of ${choices.join(", ")}`, (given) => choices.find((name) => name === given))

/** Defines a setting for a URL without query and user. A trailing slash is removed. */
export const url = (fallback: undefined, about: string, protocols: readonly string[] = ["http:", "https:"]): Setting<string | undefined> =>
  setting<string | undefined>(fallback, about, `a URL that begins with ${protocols.map((name) => `${name}//`).join(" or ")}`, (given) => {
    const parsed = URL.parse(line(given) ?? "")
    const plain = parsed?.search === "" && parsed.hash === "" && parsed.username === "" && parsed.hostname !== ""
    return plain && protocols.includes(parsed.protocol) ? line(given)?.replace(/\/+$/, "") : undefined
  })

/** Defines a setting for a file or folder. Relative paths start at the working directory. */
export function place(fallback: string, about: string): Setting<string>
export function place(fallback: undefined, about: string): Setting<string | undefined>
export function place(fallback: string | undefined, about: string): Setting<string | undefined> {
  return setting(fallback, about, "a path", (given) => {
    const path = line(given)
    return path === undefined ? undefined : resolve(path)
  })
}

/** Defines a setting for an object: a table in the file, JSON elsewhere. */
export const table = (about: string): Setting<Readonly<Record<string, unknown>> | undefined> =>
  setting<Readonly<Record<string, unknown>> | undefined>(undefined, about, "a table in the file, or a JSON object elsewhere", (given) => {
    const value = typeof given === "string" ? parsedJson(given) : given
    // An object that is neither an array nor null is a record.
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined
  })

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Defines a setting for a path that the instance serves. */
export const route = (about: string): Setting<string | undefined> =>
  setting<string | undefined>(undefined, about, "a path such as /numbers/in, consisting of letters, digits, ., _, - and /", (given) =>
    /^(\/[A-Za-z0-9._-]{1,64}){1,4}$/.test(String(given)) ? String(given) : undefined,
  )

export const cidrs = (fallback: readonly string[], about: string): Setting<readonly string[]> =>
  setting(fallback, about, "a list of address ranges such as 10.0.0.0/8,fd00::/8, or none", (given) => {
    if (given === "none") return []
    const list = (Array.isArray(given) ? given : String(given).split(",")).map((range) => String(range).trim())
    return list.length > 0 && list.every((range) => ipaddr.isValidCIDR(range)) ? list : undefined
  })

/** Defines a setting for host names without a port. Default: none. */
export const hosts = (about: string): Setting<readonly string[]> =>
  setting<readonly string[]>([], about, "a list of host names such as stats.example,stats.local", (given) => {
    const list = (Array.isArray(given) ? given : String(given).split(",")).map((host) => String(host).trim().toLowerCase())
    return list.every((host) => URL.parse(`http://${host}/`)?.host === host) ? list : undefined
  })

/** Defines a setting for exact origins, as browsers send them. Default: none. */
export const origins = (about: string): Setting<readonly string[]> =>
  setting<readonly string[]>([], about, "a list of origins such as https://tools.example,https://other.example:8443", (given) => {
    const list = (Array.isArray(given) ? given : String(given).split(",")).map((origin) => String(origin).trim())
    return list.every((origin) => URL.parse(origin)?.origin === origin && /^https?:/.test(origin)) ? list : undefined
  })

export const ports = (fallback: readonly number[], about: string): Setting<readonly number[]> =>
  setting(fallback, about, "a list of ports such as 443,8443", (given) => {
    const list = (Array.isArray(given) ? given : String(given).split(",")).map((port) => Number(String(port).trim()))
    return list.every((port) => Number.isInteger(port) && port > 0 && port < 65_536) ? list : undefined
  })

export const timeOfDay = (fallback: string, about: string): Setting<string> =>
  setting(fallback, about, "a time such as 03:00, or off", (given) =>
    given === "off" || /^([01]\d|2[0-3]):[0-5]\d$/.test(String(given)) ? String(given) : undefined,
  )

/** Defines a setting for a secret, which is never printed, not even in an error message. */
export const secret = (about: string, kind: "key" | "token" = "token"): Setting<string | undefined> => ({
  ...setting<string | undefined>(
    undefined,
    about,
    kind === "key" ? "32 random bytes in base64 or hex, not a documented sample" : "text",
    (given) => (kind === "key" ? keyText(line(given)) : line(given)),
  ),
  secret: true,
})

const line = (given: unknown): string | undefined =>
  // A control character in a setting is a copying mistake.
  typeof given === "string" && given.trim() !== "" && !/\p{Cc}/u.test(given) ? given.trim() : undefined

/** Sample keys from public documents, which are not secret. */
const SAMPLES = new Set([
  "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
  "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
])

function keyText(given: string | undefined): string | undefined {
  if (given === undefined) return undefined
  const bytes = /^[0-9a-fA-F]{64}$/.test(given) ? Buffer.from(given, "hex") : Buffer.from(given, "base64")
  const sample = bytes.every((byte) => byte === bytes[0]) || SAMPLES.has(bytes.toString("hex"))
  return bytes.length === 32 && !sample ? given : undefined
}

function setting<Value>(fallback: Value, about: string, form: string, read: (given: unknown) => Value | undefined): Setting<Value> {
  return { read, default: fallback, form, about, secret: false }
}
